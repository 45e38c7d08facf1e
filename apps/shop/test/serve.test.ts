import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SetupError } from '../src/config.ts';
import { serve } from '../src/server/serve.ts';

const ANYWHERE = { host: '127.0.0.1', port: 0 };

/** A connection that sends this and then only reads. */
async function open(origin: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('serving', () => {
  test('closes although connections are idle, halfway through a request, or waiting for a response', async () => {
    const waiting = Promise.withResolvers<void>();
    const served = await serve(ANYWHERE, async () => () => waiting.resolve());
    const sockets = [
      await open(served.origin, ''),
      await open(served.origin, 'GET / HTTP/1.1\r\n'),
      await open(served.origin, 'GET / HTTP/1.1\r\nhost: shop\r\n\r\n'),
    ];
    const closed = sockets.map((socket) => once(socket, 'close'));
    await waiting.promise;
    await served.close();
    await Promise.all(closed);
    await expect(fetch(served.origin)).rejects.toThrow();
  });

  test('lets a request in flight finish', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    const served = await serve(ANYWHERE, async () => (_request, response) => arrived.resolve(response));
    const answer = fetch(served.origin).then((response) => response.text());
    const response = await arrived.promise;
    const closed = served.close();
    response.end('finished');
    expect(await answer).toBe('finished');
    await closed;
  });

  test('answers 503 until the shop is ready, and never hangs', async () => {
    let origin = '';
    const ready = Promise.withResolvers<void>();
    const pending = serve(ANYWHERE, async (found) => {
      origin = found;
      await ready.promise;
      return (_request, response) => void response.end('ready');
    });
    await expect.poll(() => origin).not.toBe('');
    const early = await fetch(origin);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    ready.resolve();
    const served = await pending;
    onTestFinished(() => served.close());
    expect(await (await fetch(origin)).text()).toBe('ready');
  });

  test('leaves nothing listening when the shop cannot be created', async () => {
    let origin = '';
    const failed = serve(ANYWHERE, async (found) => {
      origin = found;
      throw new SetupError('no');
    });
    await expect(failed).rejects.toThrow('no');
    await expect(fetch(origin)).rejects.toThrow();
  });
});

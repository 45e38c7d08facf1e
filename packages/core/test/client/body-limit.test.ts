import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { InvalidResponseError } from '../../src/errors.ts';
import { failureOf } from './failure-of.ts';
import { type Answer, reply, startService, successBody } from './local-service.ts';
import { publicKey } from './wire-samples.ts';

async function clientOf(...answers: Answer[]): Promise<Client> {
  const { baseUrl } = await startService(...answers);
  return createClient({ baseUrl, publicKey });
}

describe('a response is at most 1 MiB after decompression', () => {
  const LIMIT = 1024 * 1024;
  const padded = (length: number): Buffer => {
    const body = JSON.stringify(successBody({ payment_providers: [] }));
    return Buffer.from(body.padEnd(length, ' '));
  };

  test('a body of exactly the limit is read, and one more byte is refused', async () => {
    const client = await clientOf(reply(200, padded(LIMIT)), reply(200, padded(LIMIT + 1)));
    expect(await client.listPaymentProviders()).toEqual([]);
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('longer than 1048576 bytes'),
    });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('a %s body is read', async (encoding, compress) => {
    const body = compress(padded(1000));
    const client = await clientOf(reply(200, body, { 'content-encoding': encoding }));
    expect(await client.listPaymentProviders()).toEqual([]);
  });

  test('reading a gzip bomb of 32 MiB stops at the limit', async () => {
    const bomb = gzipSync(padded(32 * LIMIT));
    const { baseUrl } = await startService(reply(200, bomb, { 'content-encoding': 'gzip' }));
    let read = 0;
    let isCancelled = false;
    const client = createClient({
      baseUrl,
      publicKey,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        const reader = response.body?.getReader();
        const counted = new ReadableStream<Uint8Array>({
          async pull(controller) {
            const { value } = (await reader?.read()) ?? {};
            read += value?.byteLength ?? 0;
            if (value === undefined) controller.close();
            else controller.enqueue(value);
          },
          async cancel(reason) {
            isCancelled = true;
            await reader?.cancel(reason);
          },
        });
        return new Response(counted, { status: response.status, headers: response.headers });
      },
    });
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
    expect(isCancelled).toBe(true);
    expect(read).toBeLessThan(2 * LIMIT);
  });

  test('the connection of an endless body is closed', async () => {
    const endless: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const send = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', send);
      send();
    };
    const service = await startService(endless);
    const client = createClient({ baseUrl: service.baseUrl, publicKey });
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
    await service.requests[0]?.closed;
  });

  test('an error page over the limit keeps its status', async () => {
    const client = await clientOf(reply(404, padded(2 * LIMIT)));
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({ status: 404, snippet: undefined });
  });
});

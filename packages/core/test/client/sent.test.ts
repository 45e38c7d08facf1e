import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { ApiError, type Sent } from '../../src/errors.ts';
import { listening } from '../listening.ts';
import { publicKey, secretKey } from './wire-samples.ts';

/** Where a connection is cut: after so many bytes of the request, or, once all of it was passed through, of the response. */
interface Cut {
  readonly of: 'request' | 'response';
  readonly after: number;
  readonly how: 'reset' | 'end';
}

/** What the client claims of a call, and what the service has seen of it. */
interface Outcome {
  readonly claim: Sent | 'success';
  readonly isSeen: boolean;
}

/** A service that records each whole request, behind a proxy that cuts each connection where it is told to. */
async function serviceBehindCuts(status: number) {
  const seen: string[] = [];
  const service = createHttpServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    seen.push(body);
    const answer = { code: status, status: status < 400 ? 'success' : 'error', message: 'Done', data: {} };
    response.writeHead(status).end(JSON.stringify(answer));
  });
  const servicePort = await listening(service);
  const lengths = { request: 0, response: 0 };
  let cut: Cut | undefined;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(servicePort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('end', () => upstream.end());
    upstream.on('end', () => client.end());
    pass('request', client, upstream, client);
    pass('response', upstream, client, client);
  });
  const pass = (of: Cut['of'], from: Socket, to: Socket, client: Socket): void => {
    let passed = 0;
    from.on('data', (piece: Buffer) => {
      const end = cut?.of === of ? cut.after : Number.POSITIVE_INFINITY;
      const part = piece.subarray(0, Math.max(0, end - passed));
      passed += part.length;
      lengths[of] = passed;
      const isCut = passed >= end;
      to.write(part, () => {
        if (!isCut) return;
        // What was passed has been written: the service may act on it.
        if (cut?.how === 'reset') client.resetAndDestroy();
        else client.end(() => client.destroy());
        if (of === 'request') to.end();
      });
    });
  };
  const port = await listening(proxy);
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, publicKey, secretKey });
  let count = 0;
  const call = async (next?: Cut): Promise<Outcome> => {
    cut = next;
    count += 1;
    const id = `payment-${count}`;
    const claim = await client
      .request({ method: 'POST', path: '/collections', body: { id, amount: 500 }, secretKey: true })
      .then(
        () => 'success' as const,
        (error: { sent: Sent }) => error.sent,
      );
    // Each connection is of one call, so that the bytes of a position are those of this request.
    for (const socket of sockets) socket.destroy();
    while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
    const copies = seen.filter((body) => body.includes(`"${id}"`)).length;
    expect(copies).toBeLessThanOrEqual(1);
    return { claim, isSeen: copies === 1 };
  };
  return { call, lengths, proxy };
}

test.each([201, 422])(
  'a connection that breaks anywhere never claims that nothing was sent when the service answers %i',
  async (status) => {
    const { call, lengths } = await serviceBehindCuts(status);
    const whole = await call();
    expect(whole).toEqual({ claim: status === 201 ? 'success' : 'refused', isSeen: true });
    const { request, response } = { ...lengths };
    const cuts: Cut[] = [];
    // The two runs cut at different bytes.
    for (let after = status % 4; after <= request; after += 4)
      cuts.push({ of: 'request', after, how: after % 8 < 4 ? 'reset' : 'end' });
    for (let after = status % 4; after < response; after += 4)
      cuts.push({ of: 'response', after, how: after % 8 < 4 ? 'end' : 'reset' });
    expect(cuts.length).toBeGreaterThan(150);
    const outcomes: Outcome[] = [];
    for (const cut of cuts) outcomes.push(await call(cut));
    // A connection was made each time, so nothing proves that the request has not arrived.
    expect(outcomes.filter(({ claim }) => claim === 'no')).toEqual([]);
    const seen = outcomes.filter(({ isSeen }) => isSeen);
    // Control: without a response, and with the request at the service, a client that takes a broken connection for unsent lies.
    expect(seen.filter(({ claim }) => claim === 'unknown').length).toBeGreaterThan(20);
    expect(outcomes.length - seen.length).toBeGreaterThan(50);
    // Success and refusal are claimed only where the service has answered.
    expect(outcomes.filter(({ claim, isSeen }) => claim !== 'unknown' && !isSeen)).toEqual([]);
  },
);

test('of an error of its own, a program says by the status alone whether the request may have had an effect', () => {
  const refused = Array.from({ length: 500 }, (_, index) => 100 + index).filter(
    (status) => new ApiError('Made up.', { status }).sent === 'refused',
  );
  // Not 409, which can mean that the payment exists, nor 408, 425 and 429, after which it may be worked on.
  expect(refused).toEqual([400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 431]);
});

test('a port on which nothing listens, and a host that does not exist, were sent nothing', async () => {
  const { call, proxy } = await serviceBehindCuts(201);
  expect(await call()).toEqual({ claim: 'success', isSeen: true });
  const proxyAddress = proxy.address() as AddressInfo;
  proxy.close();
  expect(await call()).toEqual({ claim: 'no', isSeen: false });
  const { port } = proxyAddress;
  // Each address of the name is tried, and each fails.
  for (const baseUrl of ['https://service.invalid', `http://localhost:${port}`]) {
    const client = createClient({ baseUrl, publicKey });
    const call = client.request({ method: 'POST', path: '/a' });
    await expect(call).rejects.toMatchObject({ code: 'connection_failed', sent: 'no' });
  }
});

test('a kept connection that the service has just closed never makes a request arrive twice', async () => {
  const seen: string[] = [];
  const service = createHttpServer(async (request, response) => {
    const body = await text(request);
    seen.push(body);
    response.end(JSON.stringify({ status: 'success' }), () => setImmediate(() => request.socket.destroy()));
  });
  const baseUrl = `http://127.0.0.1:${await listening(service)}`;
  const client = createClient({ baseUrl, publicKey });
  const claims: string[] = [];
  for (let id = 0; id < 100; id += 1) {
    const call = client.request({ method: 'POST', path: '/a', body: { id } });
    const claim = await call.then(
      () => 'success',
      (error: { sent: Sent }) => error.sent,
    );
    const copies = seen.filter((body) => body === `{"id":${id}}`).length;
    expect(copies).toBeLessThanOrEqual(1);
    if (claim === 'no') expect(copies).toBe(0);
    claims.push(claim);
  }
  expect(claims).toContain('success');
});

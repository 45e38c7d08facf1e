import { once } from 'node:events';
import { type ClientHttp2Session, connect, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { CallbackOptions } from '@payment-service/core/receive';
import { sampleCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { hangGuard } from './hang-guard.ts';
import { CALLBACK_PATH, SIGNING_KEY, signature } from './http-request.ts';

/** An HTTP/2 server, not yet listening, with the adapter at `CALLBACK_PATH`. */
export type StreamServer = (path: string, options: CallbackOptions) => Http2Server | Promise<Http2Server>;

const STREAMS = 100;
/** More than the limit of a body. */
const TOO_LARGE = 'x'.repeat(66_000);

/** Threat A43: a server that speaks HTTP/2 itself closes each refused stream after its answer. */
export function testStreams(name: string, serve: StreamServer): void {
  test(`threat A43: ${name}, HTTP/2: no stream stays open after it was refused`, {
    timeout: 60_000,
  }, async () => {
    expect(await refusedStreams(serve)).toEqual({
      statuses: new Map([
        [408, STREAMS],
        [413, STREAMS],
        [401, STREAMS],
      ]),
      open: 0,
    });
  });
}

/** What the senders of unfinished bodies saw, and how many of their streams the server still has afterwards. */
export async function refusedStreams(serve: StreamServer): Promise<{
  readonly statuses: ReadonlyMap<number, number>;
  readonly open: number;
}> {
  const options = { signingKey: SIGNING_KEY, onCallback: () => undefined, bodyTimeoutMs: 50 };
  const server = await serve(CALLBACK_PATH, options);
  let open = 0;
  server.on('stream', (stream) => {
    open++;
    stream.once('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const statuses = new Map<number, number>();
  try {
    const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
    for (const headers of [{ 'hmac-signature': signature() }, {}]) {
      const answers = Array.from({ length: STREAMS }, () => ask(client, headers, '{'));
      for (const status of await hangGuard('the answers', Promise.all(answers))) count(status);
    }
    // One after another: together they would fill the flow control window of the connection.
    for (let stream = 0; stream < STREAMS; stream++) {
      count(await hangGuard('an answer', ask(client, { 'hmac-signature': signature() }, TOO_LARGE)));
    }
    // Whole requests, so that the server has had time to close what it closes.
    for (let turn = 0; turn < 50 && open > 0; turn++) {
      await hangGuard('an answer', ask(client, { 'hmac-signature': signature() }));
    }
    return { statuses, open };
  } finally {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Resolves with the status when the whole answer is there. Without `start`, a genuine request that ends. */
async function ask(client: ClientHttp2Session, headers: object, start?: string): Promise<number> {
  const stream = client.request({ ':method': 'POST', ':path': CALLBACK_PATH, ...headers });
  stream.on('error', () => undefined);
  if (start === undefined) stream.end(JSON.stringify(sampleCallback()));
  else stream.write(start);
  const [answer] = await once(stream, 'response');
  await once(stream.resume(), 'end');
  return Number(answer[':status']);
}

import type { IncomingBody, IncomingCallback } from '../src/receive/index.ts';
import { SIGNATURE } from './signed-callbacks.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A callback request as an adapter describes it; unless `headers` say otherwise, with the ordinary signature. */
export function post(body: IncomingBody, headers: Headers = {}, method = 'POST'): IncomingCallback {
  const all = new Map(Object.entries({ 'hmac-signature': SIGNATURE, ...headers }));
  return { method, header: (name) => all.get(name), body };
}

/** A body that a parser mounted before has read. */
export function parsed(data: unknown): IncomingBody {
  return { state: 'parsed', data };
}

/** A body that arrives in these pieces. */
export function unread(...pieces: (Uint8Array | string)[]): IncomingBody {
  return {
    state: 'unread',
    read: ({ chunk, end }) => {
      let isStopped = false;
      queueMicrotask(() => {
        for (const piece of pieces) if (!isStopped) chunk(piece);
        if (!isStopped) end();
      });
      return () => {
        isStopped = true;
      };
    },
  };
}

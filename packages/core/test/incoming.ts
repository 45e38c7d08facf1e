import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  type IncomingBody,
  type IncomingCallback,
  type ReceivedCallback,
  type ReceivedRedirect,
  type RedirectOptions,
  receiveCallback,
  receiveRedirect,
} from '../src/receive/index.ts';
import { QUERY, SIGNATURE, SIGNING_KEY } from './signed-callbacks.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A callback request as described by an adapter, with the ordinary signature unless `headers` say otherwise. */
export function post(body: IncomingBody, headers: Headers = {}, method = 'POST'): IncomingCallback {
  const all = new Map(Object.entries({ 'hmac-signature': SIGNATURE, ...headers }));
  return { method, header: (name) => all.get(name), body };
}

/** A body that an earlier parser has read. */
export function parsed(data: unknown): IncomingBody {
  return { state: 'parsed', data };
}

/** A body that arrives in these chunks. */
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

/** Core's answer to a callback, by a receiver with these options: by default, of a handler that accepts it. */
export async function received(
  request: IncomingCallback,
  options: Partial<CallbackOptions> = { onCallback: () => undefined },
): Promise<ReceivedCallback> {
  return receiveCallback(request, createCallbackReceiver({ signingKey: SIGNING_KEY, ...options }));
}

/** Core's answer to a redirect: by default, to the ordinary one. */
export async function redirected(
  options: Partial<RedirectOptions> = {},
  url: string = `/return?${QUERY}`,
  method = 'GET',
): Promise<ReceivedRedirect> {
  return receiveRedirect({ method, url }, createRedirectReceiver({ signingKey: SIGNING_KEY, ...options }));
}

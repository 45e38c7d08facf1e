import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { AuthenticRefusal, VerifiedCallback } from '@payment-service/core';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '@payment-service/core/receive';
import type { InboxEvent } from '@payment-service/inbox';
import { SIGNING_KEY } from './callbacks.ts';

/** A header that no real receiver sends: how the inbox kept the callback. */
export const OUTCOME = 'outcome';

const answering = new AsyncLocalStorage<{ outcome?: string }>();

/** For `onEvent` of an inbox that keeps what this server receives: the server's responses then say how a callback was kept. */
export function tellOutcome(event: InboxEvent): void {
  const answer = answering.getStore();
  if (answer !== undefined && event.name === 'callback.received') answer.outcome = event.outcome;
}

/** A merchant's server. Programs differ only in how they keep a callback. A failure is answered with 503. */
export interface Served {
  readonly keep: (callback: VerifiedCallback) => Promise<unknown>;
  /** Of an inbox whose `receive` is not `keep` itself: with it, a restarted server stores what is in the spool (threat A66). */
  readonly quarantine?: ((refusal: AuthenticRefusal) => Promise<unknown>) | undefined;
  /** Its other routes, by path; text is sent with 200, and undefined is a 204. */
  readonly others?: Readonly<Record<string, (request: IncomingMessage) => Promise<string | undefined>>>;
  /** Default: prints. */
  readonly onError?: () => undefined;
}

/** @returns its port. */
export async function serve({ keep, quarantine, others = {}, onError }: Served): Promise<number> {
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    onCallback: keep,
    onAuthenticRefusal: quarantine,
    ...(onError && { onError }),
  });
  const server = createServer(async (request, response) => {
    try {
      const other = others[request.url ?? ''];
      if (other !== undefined) {
        const text = await other(request);
        response.writeHead(text === undefined ? 204 : 200).end(text);
        return;
      }
      const answer: { outcome?: string } = {};
      const { reply } = await answering.run(answer, () =>
        receiveCallback(incomingCallback(request), receiver),
      );
      if (reply === undefined) throw new Error('onCallback is set, so core answers.');
      if (answer.outcome !== undefined) response.setHeader(OUTCOME, answer.outcome);
      response.writeHead(reply.status, reply.headers).end(reply.body);
    } catch {
      response.writeHead(503).end();
    }
  });
  return listening(server);
}

/** @returns the port of a server that now listens on loopback. */
export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** The merchant's web server: takes callbacks, and what the merchant expects. Killed at any moment. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '@payment-service/core/receive';
import type { Expectation } from '@payment-service/inbox';
import type { Database } from './database.ts';
import { withInbox } from './merchant.ts';
import { SIGNING_KEY } from './payment-plan.ts';
import { enterPhase } from './phase-log.ts';
import { endWithParent, roleSettings, tellReady } from './role.ts';

export interface ReceiverSettings {
  readonly database: Database;
  /** The folder for callbacks while the store is unavailable; the same one after a restart. */
  readonly spool: string | undefined;
}

const { database, spool } = roleSettings<ReceiverSettings>();
endWithParent();

await withInbox(database, { spool }, async (inbox) => {
  let count = 0;
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    // The sender is here to retry what the receiver does not acknowledge.
    onError: () => undefined,
    async onCallback(callback) {
      count += 1;
      const id = String(count);
      enterPhase('intake', id);
      try {
        await inbox.receive(callback);
      } finally {
        enterPhase('idle', id);
      }
    },
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/callbacks') {
      const { reply } = await receiveCallback(incomingCallback(request), receiver);
      if (reply === undefined) throw new Error('onCallback is set, so core answers.');
      response.writeHead(reply.status, reply.headers).end(reply.body);
    } else if (request.url === '/expectations') {
      const expectations = (await json(request)) as Expectation[];
      await Promise.all(expectations.map((expectation) => inbox.expect(expectation)));
      response.writeHead(204).end();
    } else {
      const { spooled } = await inbox.stats();
      response.writeHead(200).end(String(spooled));
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(503).end());
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    tellReady(`http://127.0.0.1:${port}`);
  });
});

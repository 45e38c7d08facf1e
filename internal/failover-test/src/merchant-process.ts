/** A program of the merchant's: a receiver behind HTTP, or a worker. It lives through every failover. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '@payment-service/core/receive';
import { createInbox, type Expectation, type Inbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { SIGNING_KEY } from './payments.ts';

export interface MerchantSettings {
  readonly role: 'receiver' | 'worker';
  readonly url: string;
}

/** To the parent, once. */
export interface MerchantReady {
  /** Where a receiver listens. */
  readonly address: string | undefined;
  /** Codes of the warnings at start-up. */
  readonly warnings: readonly string[];
}

const { role, url } = JSON.parse(process.argv[2] ?? '{}') as MerchantSettings;
const warnings: string[] = [];
process.on('warning', (warning) => warnings.push(String(Reflect.get(warning, 'code'))));

// Nothing is left running when the parent is killed.
process.on('disconnect', () => process.exit(1));
const pool = new pg.Pool({ connectionString: url, max: 12, connectionTimeoutMillis: 5000 });
pool.on('error', () => undefined);
// Retries are quick, so that a run does not wait for them; otherwise the inbox as a merchant has it.
const inbox = createInbox({ store: postgres(pool), retry: { firstDelayMs: 50, longestDelayMs: 1000 } });
await inbox.ready();
tellReady(role === 'receiver' ? await receive(inbox) : work(inbox));

function tellReady(address: string | undefined): void {
  // Warnings are told in the next turn.
  setImmediate(() => process.send?.({ address, warnings } satisfies MerchantReady));
}

function work(own: Inbox<pg.PoolClient>): undefined {
  own.handle(async ({ tx, signed }) => {
    // No constraint on this table: what happens twice is two rows.
    await tx.query('insert into merchant_effect (reference) values ($1)', [signed.merchant_reference]);
  });
  void own.work({ signal: new AbortController().signal });
}

async function receive(own: Inbox<pg.PoolClient>): Promise<string> {
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    // The sender is here to retry what is not acknowledged.
    onError: () => undefined,
    onCallback: own.receive,
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/expectations') {
      await own.expect((await json(request)) as Expectation);
      response.writeHead(204).end();
      return;
    }
    const { reply } = await receiveCallback(incomingCallback(request), receiver);
    if (reply === undefined) throw new Error('onCallback is set, so core answers.');
    response.writeHead(reply.status, reply.headers).end(reply.body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(503).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

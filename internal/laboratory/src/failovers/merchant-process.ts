/** A program of the merchant's: a receiver behind HTTP, or a worker. It lives through every failover. */
import { json } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { createInbox, type Expectation, type Inbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { serve } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';

export interface MerchantSettings {
  readonly role: 'receiver' | 'worker';
  readonly url: string;
}

/** What it returns, once. */
export interface MerchantReady {
  /** Where a receiver listens. */
  readonly address: string | undefined;
  /** Codes of the warnings at start-up. */
  readonly warnings: readonly string[];
}

answerQuestions(async ({ role, url }: MerchantSettings): Promise<MerchantReady> => {
  const warnings: string[] = [];
  process.on('warning', (warning) => warnings.push(String(Reflect.get(warning, 'code'))));
  const pool = new pg.Pool({ connectionString: url, max: 12, connectionTimeoutMillis: 5000 });
  pool.on('error', () => undefined);
  // Retries are quick, so that a run does not wait for them; otherwise the inbox as a merchant has it.
  const inbox = createInbox({ store: postgres(pool), retry: { firstDelayMs: 50, longestDelayMs: 1000 } });
  await inbox.ready();
  const address = role === 'receiver' ? await receive(inbox) : work(inbox);
  // Warnings are told in the next turn.
  await setImmediate();
  return { address, warnings };
});

function work(own: Inbox<pg.PoolClient>): undefined {
  own.handle(async ({ tx, signed }) => {
    // No constraint on this table: what happens twice is two rows.
    await tx.query('insert into merchant_effect (reference) values ($1)', [signed.merchant_reference]);
  });
  void own.work({ signal: new AbortController().signal });
}

async function receive(own: Inbox<pg.PoolClient>): Promise<string> {
  const port = await serve({
    keep: own.receive,
    others: {
      async '/expectations'(request) {
        await own.expect((await json(request)) as Expectation);
        return undefined;
      },
    },
    // The sender is here to retry what is not acknowledged.
    onError: () => undefined,
  });
  return `http://127.0.0.1:${port}`;
}

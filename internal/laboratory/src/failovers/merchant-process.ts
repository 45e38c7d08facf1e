/** A program of the merchant's: a receiver behind HTTP, or a worker. It lives through every failover. */
import { json } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import {
  createInbox,
  type Expectation,
  type HandledTransition,
  type Inbox,
  postgres,
} from '@payment-service/inbox';
import pg from 'pg';
import { effectValues, INSERT_EFFECT } from '../history/effects.ts';
import { serve, tellOutcome } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';

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
  const retry = { firstDelayMs: 50, longestDelayMs: 1000 };
  // A handler that fails runs again; the history shows what that led to.
  const onError = (): undefined => undefined;
  const inbox = createInbox({ store: postgres(pool), retry, onEvent: tellOutcome, onError });
  await inbox.ready();
  const address = role === 'receiver' ? await receive(inbox) : work(inbox);
  // Warnings are told in the next turn.
  await setImmediate();
  return { address, warnings };
});

function work(own: Inbox<pg.PoolClient>): undefined {
  const apply = async (transition: HandledTransition<pg.PoolClient>): Promise<void> => {
    await transition.tx.query(INSERT_EFFECT.postgres, [...effectValues(transition, monotonicMs())]);
  };
  for (const status of ['COMPLETED', 'FAILED']) own.handle(apply, { status });
  void own.work({ signal: new AbortController().signal });
}

async function receive(own: Inbox<pg.PoolClient>): Promise<string> {
  const port = await serve({
    keep: own.receive,
    others: {
      async '/expectations'(request) {
        const expectations = (await json(request)) as Expectation[];
        await Promise.all(expectations.map((expectation) => own.expect(expectation)));
        return undefined;
      },
    },
    // The sender is here to retry what is not acknowledged.
    onError: () => undefined,
  });
  return `http://127.0.0.1:${port}`;
}

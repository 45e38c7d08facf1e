/**
 * One of the merchant's programs: a web server that receives callbacks and the merchant's expectations, or a worker that applies
 * transitions to the merchant's own table. Killed at any moment.
 */
import { appendFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { Expectation, Handled, InboxEvent } from '@payment-service/inbox';
import { effectOf, INSERT_EFFECT } from '../history/remains.ts';
import { serve, tellOutcome } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import type { Database } from '../topology/topology.ts';
import { openInbox, type Transaction } from './merchant.ts';
import { enterPhase } from './phase-log.ts';

export interface MerchantSettings {
  readonly role: 'receiver' | 'worker';
  readonly database: Database;
  /** Of a receiver: the folder for callbacks while the store is unavailable; the same one after a restart. */
  readonly spool?: string | undefined;
  /** Of a worker of the control: the file to which effects are written, outside the transaction, which must show doubles. */
  readonly outside?: string | undefined;
  /** Of a worker: whether it applies payments in passes of `drain()` instead of with `work()`. */
  readonly isDraining?: boolean;
}

const stopping = new AbortController();
answerQuestions((question: MerchantSettings | { readonly stop: true }) => {
  if ('stop' in question) return stopping.abort();
  return question.role === 'receiver' ? receive(question) : void work(question);
});

/** @returns its address. */
async function receive({ database, spool }: MerchantSettings): Promise<string> {
  const inbox = openInbox(database, { spool, onEvent: tellOutcome });
  let count = 0;
  const port = await serve({
    async keep(callback) {
      count += 1;
      const id = String(count);
      enterPhase('intake', id);
      try {
        await inbox.route.onCallback(callback);
      } finally {
        enterPhase('idle', id);
      }
    },
    quarantine: inbox.route.onAuthenticRefusal,
    others: {
      async '/expectations'(request) {
        const expectations = (await json(request)) as Expectation[];
        await Promise.all(expectations.map((expectation) => inbox.expect(expectation)));
        return undefined;
      },
      '/spooled': async () => String((await inbox.health()).spooled ?? 1),
    },
    // It is up to the sender to retry what the receiver does not acknowledge.
    onError: () => undefined,
  });
  // A killed process writes no cache, so each start would strip and compile the same files again.
  flushCompileCache();
  return `http://127.0.0.1:${port}`;
}

const ENDS = ['transition.settled', 'transition.retrying', 'transition.parked'];

function onEvent(event: InboxEvent): void {
  if (ENDS.includes(event.name) && 'transitionId' in event) enterPhase('idle', event.transitionId);
}

/** Most handlers are quick; some give the killer time. */
async function linger(): Promise<void> {
  if (Math.random() < 0.1) await wait(Math.random() * 6);
}

async function work({ database, outside, isDraining = false }: MerchantSettings): Promise<void> {
  const inbox = openInbox(database, { onEvent });
  const apply = async (transition: Handled<Transaction>): Promise<void> => {
    const began = monotonicMs();
    const { tx, id: transitionId } = transition;
    enterPhase('handler', transitionId);
    await linger();
    const effect = JSON.stringify(effectOf(transition, began));
    if (outside === undefined) await tx.query(INSERT_EFFECT[database.store], [effect]);
    else appendFileSync(outside, `${effect}\n`);
    await linger();
    enterPhase('commit', transitionId);
  };
  for (const name of ['paid', 'failed'] as const) inbox.handle(name, apply);
  flushCompileCache();
  if (!isDraining) await inbox.work({ signal: stopping.signal, concurrency: 4, pollMs: 20 });
  while (isDraining && !stopping.signal.aborted) {
    // A pass rejects while the database is unavailable. A function or cron job runs again, and so does this (threat A57).
    await inbox.drain({ limit: 100, deadlineMs: 2000 }).catch(() => undefined);
    await wait(20);
  }
  await inbox.close();
  process.exit(0);
}

/** The merchant's worker: applies transitions to its own table. Killed at any moment. */
import { flushCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import type { HandledTransition, Inbox, InboxEvent } from '@payment-service/inbox';
import { effectValues } from '../history/remains.ts';
import { answerQuestions } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import type { Database } from './databases.ts';
import { type InsertEffect, outsideEffects, withInbox } from './merchant.ts';
import { enterPhase } from './phase-log.ts';

export interface WorkerSettings {
  readonly database: Database;
  readonly concurrency?: number;
  readonly pollMs?: number;
  /** Whether effects are written in their own transaction, which must show doubles. */
  readonly isControl: boolean;
  /** Whether it applies payments in passes of `drain()` instead of with `work()`. */
  readonly isDraining: boolean;
}

const stopping = new AbortController();
answerQuestions((question: WorkerSettings | { readonly stop: true }) => {
  if ('stop' in question) stopping.abort();
  else void work(question);
});

const ENDS = ['transition.settled', 'transition.retrying', 'transition.parked'];

function onEvent(event: InboxEvent): void {
  if (ENDS.includes(event.name) && 'transitionId' in event) enterPhase('idle', event.transitionId);
}

/** Most handlers are quick; some give the killer time. */
async function linger(): Promise<void> {
  if (Math.random() < 0.1) await wait(Math.random() * 6);
}

async function work({ database, isControl, isDraining, ...pace }: WorkerSettings): Promise<void> {
  await withInbox(database, { onEvent }, async <Tx>(inbox: Inbox<Tx>, insertEffect: InsertEffect<Tx>) => {
    const outside = isControl ? outsideEffects(database) : undefined;
    const apply = async (transition: HandledTransition<Tx>): Promise<void> => {
      const began = monotonicMs();
      const { tx, transitionId } = transition;
      enterPhase('handler', transitionId);
      await linger();
      const effect = effectValues(transition, began);
      await (outside === undefined ? insertEffect(tx, effect) : outside(effect));
      await linger();
      enterPhase('commit', transitionId);
    };
    for (const status of ['COMPLETED', 'FAILED']) inbox.handle(apply, { status });
    // A killed process writes no cache, so each start would strip and compile the same files again.
    flushCompileCache();
    if (!isDraining) await inbox.work({ signal: stopping.signal, ...pace });
    while (isDraining && !stopping.signal.aborted) {
      // A pass rejects while the database is unavailable. A function or cron job runs again, and so does this (threat A57).
      await inbox.drain({ limit: 100, deadlineMs: 2000 }).catch(() => undefined);
      await wait(20);
    }
    await inbox.close();
    process.exit(0);
  });
}

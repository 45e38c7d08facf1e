import { ConfigurationError } from '@payment-service/core';
import { failureCode } from './failure-code.ts';
import { errorText } from './handler.ts';
import type { Lane, StoreEngine } from './store.ts';
import type { Wakeup } from './wakeup.ts';
import { recordFailure, UnrecordedAttempt, type WorkContext, workStep } from './work-step.ts';

export interface WorkOptions<Tx> {
  readonly engine: StoreEngine<Tx>;
  readonly context: WorkContext<Tx>;
  readonly ready: () => Promise<void>;
  readonly wakeup: Wakeup;
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly pollMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Works until the signal is aborted; running handlers end before this resolves. */
export async function work<Tx>(options: WorkOptions<Tx>): Promise<void> {
  const { engine, context, concurrency } = options;
  const lanes = engine.laneCount(concurrency);
  // A misconfiguration ends all lanes, not just the one that met it.
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const run = async (): Promise<void> => {
    try {
      await runLane({ ...options, signal });
    } catch (error) {
      failed.abort();
      throw error;
    }
  };
  context.settings.emit({ name: 'worker.started', concurrency: lanes });
  await Promise.all(Array.from({ length: lanes }, run));
  context.settings.emit({ name: 'worker.stopped' });
}

/** A lane opens a session, works on it as long as it lasts, and opens another one when the store comes back. */
async function runLane<Tx>(options: WorkOptions<Tx>): Promise<void> {
  const { engine, context, ready, signal, wakeup } = options;
  const { settings } = context;
  let failures = 0;
  let unrecorded: UnrecordedAttempt | undefined;
  while (!signal.aborted) {
    let lane: Lane<Tx> | undefined;
    try {
      await ready();
      if (unrecorded !== undefined) await record(unrecorded, options);
      unrecorded = undefined;
      lane = await engine.openLane(settings);
      await workUntilStopped(lane, options, () => {
        failures = 0;
      });
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      if (error instanceof UnrecordedAttempt) unrecorded = error;
      failures += 1;
      const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
      const retryInMs = Math.round(longest * (0.5 + settings.random() / 2));
      const failure = failureCode(error instanceof UnrecordedAttempt ? error.cause : error);
      settings.emit({ name: 'store.unavailable', failure, retryInMs });
      await closeQuietly(lane);
      lane = undefined;
      await wakeup.wait(retryInMs, signal);
    } finally {
      await closeQuietly(lane);
    }
  }
}

async function workUntilStopped<Tx>(
  lane: Lane<Tx>,
  { context, signal, wakeup, pollMs }: WorkOptions<Tx>,
  onStep: () => void,
): Promise<void> {
  while (!signal.aborted) {
    const didWork = await workStep(lane, context);
    onStep();
    if (!didWork) await wakeup.wait(pollMs, signal);
  }
}

/**
 * The store is back: the attempt is counted now, unless its commit did arrive. Another connection of the pool may be as
 * dead as the one before, and this lane works on nothing else meanwhile; to give up is harmless, for counting is
 * idempotent.
 */
async function record<Tx>(
  unrecorded: UnrecordedAttempt,
  { engine, context: { settings, tables } }: WorkOptions<Tx>,
): Promise<void> {
  const error = errorText(unrecorded.cause);
  const event = await engine.transaction(
    (session) => recordFailure(unrecorded, error, settings, { session, tables, now: settings.now() }),
    settings.storeTimeoutMs,
  );
  if (event !== undefined) settings.emit(event);
}

/** The session is lost already, and why has been said. */
async function closeQuietly<Tx>(lane: Lane<Tx> | undefined): Promise<void> {
  await lane?.close().catch(() => undefined);
}

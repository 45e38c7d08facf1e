import { ConfigurationError } from '@payment-service/core';
import { bringForward } from './bring-forward.ts';
import { failureCode } from './failure-code.ts';
import type { HandlerGate } from './handler-gate.ts';
import type { Lane, StoreEngine } from './store.ts';
import { forgetStart, UncountedStart } from './uncounted-start.ts';
import { UnrecordedAttempt } from './unrecorded-attempt.ts';
import type { Wakeup } from './wakeup.ts';
import { type Outcome, recordFailure, type WorkContext, workStep } from './work-step.ts';

export interface WorkOptions<Tx> {
  readonly engine: StoreEngine<Tx>;
  readonly context: Omit<WorkContext<Tx>, 'gate' | 'record'>;
  readonly gate: HandlerGate;
  readonly ready: () => Promise<void>;
  readonly wakeup: Wakeup;
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly pollMs: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** How often to look for what a clock that was ahead has put off. */
const LOOK_AHEAD_MS = 60_000;

/** Works until the signal is aborted; running handlers end before this resolves. */
export async function work<Tx>(options: WorkOptions<Tx>): Promise<void> {
  const { engine, context, concurrency } = options;
  const { lanes, release } = engine.reserveLanes(concurrency);
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
  const runs = Array.from({ length: lanes }, run);
  try {
    await Promise.all(runs);
  } finally {
    // The first that fails ends the others, which may have a handler to wait for.
    await Promise.allSettled(runs);
    release();
  }
  context.settings.emit({ name: 'worker.stopped' });
}

/** A lane opens a session, works on it as long as it lasts, and opens another one when the store comes back. */
async function runLane<Tx>(options: WorkOptions<Tx>): Promise<void> {
  const { engine, context, ready, signal, wakeup } = options;
  const { settings } = context;
  let failures = 0;
  let unrecorded: UnrecordedAttempt | UncountedStart | undefined;
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
      const isUnrecorded = error instanceof UnrecordedAttempt || error instanceof UncountedStart;
      if (isUnrecorded) unrecorded = error;
      failures += 1;
      const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
      const retryInMs = Math.round(longest * (0.5 + settings.random() / 2));
      const failure = failureCode(isUnrecorded ? error.cause : error);
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
  options: WorkOptions<Tx>,
  onStep: () => void,
): Promise<void> {
  const { engine, context, gate, signal, wakeup, pollMs } = options;
  // A suspect is claimed again once it is let in: whoever ran it before may be about to say what became of it.
  const atOnce = {
    tryEnter: (isSuspect: boolean) => (isSuspect ? undefined : gate.tryEnter(false)),
  };
  let lookedAhead = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    // Before the look at the store: what is kept while the answer is under way wakes nobody who does not wait yet.
    const { wakes } = wakeup;
    let outcome = await workStep(lane, {
      ...context,
      gate: atOnce,
      record: (attempt) => record(attempt, options),
    });
    if (outcome === 'waits' || outcome === 'suspect_waits') {
      outcome = await stepInTurn(lane, outcome === 'suspect_waits', options);
    }
    onStep();
    if (outcome !== 'idle') continue;
    if (performance.now() - lookedAhead > LOOK_AHEAD_MS) {
      await bringForward(engine, context.settings);
      lookedAhead = performance.now();
    }
    await wakeup.wait(pollMs, signal, wakes);
  }
}

/** Waits until such a handler may run, and takes what is due then: most likely the same transition. */
async function stepInTurn<Tx>(lane: Lane<Tx>, isAlone: boolean, options: WorkOptions<Tx>): Promise<Outcome> {
  const { context, gate, signal } = options;
  const leave = await gate.enter(isAlone, signal);
  if (leave === undefined) return 'done';
  try {
    const entered = {
      tryEnter: (isSuspect: boolean) => (isSuspect && !isAlone ? undefined : () => undefined),
    };
    return await workStep(lane, { ...context, gate: entered, record: (attempt) => record(attempt, options) });
  } finally {
    leave();
  }
}

/**
 * Counts an attempt outside of its own transaction, unless its commit did arrive. Another connection of the pool may be as
 * dead as the one before, and this lane works on nothing else meanwhile; to give up is harmless, for counting is
 * idempotent.
 */
async function record<Tx>(
  unrecorded: UnrecordedAttempt | UncountedStart,
  { engine, context: { settings, tables } }: WorkOptions<Tx>,
): Promise<void> {
  const event = await engine.transaction(async (session) => {
    if (unrecorded instanceof UncountedStart) return forgetStart(unrecorded, { session, tables });
    return recordFailure(unrecorded, unrecorded.reported, settings, { session, tables, now: settings.now() });
  }, settings.storeTimeoutMs);
  if (event !== undefined) settings.emit(event);
}

/** The session is lost already, and why has been said. */
async function closeQuietly<Tx>(lane: Lane<Tx> | undefined): Promise<void> {
  await lane?.close().catch(() => undefined);
}

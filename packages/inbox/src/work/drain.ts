import { numberOf } from '../store/store.ts';
import type { Outcome } from './attempt/attempt-stages.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { bringBack } from './put-off.ts';

/** Options of `drain()`. */
export interface DrainOptions {
  /** The maximum number of transitions to settle, park or try. @default all that are due */
  readonly limit?: number | undefined;
  /**
   * In milliseconds. No further handler is started after it, and running ones end within `handlerTimeoutMs`: the sum of both
   * must fit into the time limit of a function.
   *
   * @default 30000
   */
  readonly deadlineMs?: number | undefined;
  /** How many handlers may run at the same time. @default as in `work()` */
  readonly concurrency?: number | undefined;
  /** When it is aborted, the pass ends as after `deadlineMs`, and resolves. @default it works until `deadlineMs` */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a pass of `drain()`. */
export interface Drained {
  readonly settled: number;
  /** Transitions that wait for an operator, a handler, an expectation or another body. */
  readonly parked: number;
  /** Transitions that failed and are retried. */
  readonly retrying: number;
  /** Transitions that are still due at the end: left by the limits, taken by other processes, or due since the beginning. */
  readonly left: number;
}

export interface DrainContext<Tx> extends DispatcherOptions<Tx> {
  /** Sums what was settled, for charts. */
  readonly keepSums: () => Promise<void>;
}

/**
 * Works once on what is due now, until the limit is reached or the signal is aborted; running handlers end before it resolves.
 *
 * @throws The error of the database if it cannot report what is due.
 */
export async function drainDue<Tx>(options: DrainContext<Tx>, limit: number): Promise<Drained> {
  const { statements, settings, signal, keepSums } = options;
  const counts = { settled: 0, parked: 0, retrying: 0, undone: 0, overtaken: 0 };
  const done = (): number => counts.settled + counts.parked + counts.retrying;
  const onOutcome = (outcome: Outcome): void => {
    counts[outcome] += 1;
  };
  await bringBack(options);
  const dispatcher = new Dispatcher({ ...options, isPass: true, onOutcome, limit });
  try {
    for (let before = -1; before < done() && !signal.aborted; ) {
      before = done();
      dispatcher.restart();
      while (await dispatcher.startWindow());
      const { isFull } = dispatcher;
      await dispatcher.ended();
      // Restarts for transitions that waited for another one of their internal_reference or were left to other processes, and in
      // place of those that were taken back.
      const { isPassedOver, isLeftOut } = dispatcher;
      if (dispatcher.isFull || !(isPassedOver || isLeftOut || isFull)) break;
    }
  } finally {
    await dispatcher.ended();
  }
  const { settled, parked, retrying } = counts;
  await keepSums();
  const [row = {}] = await statements.run('count_due', [settings.account]);
  return Object.freeze({ settled, parked, retrying, left: numberOf(row, 'count') });
}

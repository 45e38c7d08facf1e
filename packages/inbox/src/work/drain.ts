import { numberOf } from '../store/store.ts';
import type { Outcome } from './attempt/turn.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { mergeTally } from './tally.ts';

/** Options of `drain()`. */
export interface DrainOptions {
  /** How many transitions to settle, park or try at most. @default all that are due */
  readonly limit?: number | undefined;
  /**
   * In milliseconds. After it no further handler is started, and those that run end within `handlerTimeoutMs`: the two
   * together must fit into the time limit of a function.
   *
   * @default 30000
   */
  readonly deadlineMs?: number | undefined;
  /** How many handlers may run at the same time. @default as in `work()` */
  readonly concurrency?: number | undefined;
}

/** What a pass of `drain()` has done. */
export interface Drained {
  readonly settled: number;
  /** Wait for a person, a handler, an expectation or another body. */
  readonly parked: number;
  /** Failed, and are tried again. */
  readonly retrying: number;
  /** Still due at the end: what the limits left, what others work on, and what became due meanwhile. */
  readonly left: number;
}

/**
 * Works once on what is due now, until the limit is reached or the signal is aborted; running handlers end before it
 * resolves.
 *
 * @throws What the database says when it does not tell what is due.
 */
export async function drainDue<Tx>(options: DispatcherOptions<Tx>, limit: number): Promise<Drained> {
  const { statements, settings, signal } = options;
  const counts = { settled: 0, parked: 0, retrying: 0, undone: 0, overtaken: 0 };
  const done = (): number => counts.settled + counts.parked + counts.retrying;
  const onOutcome = (outcome: Outcome): void => {
    counts[outcome] += 1;
  };
  const dispatcher = new Dispatcher({ ...options, isPass: true, onOutcome, limit });
  try {
    for (let before = -1; before < done() && !signal.aborted; ) {
      before = done();
      dispatcher.restart();
      while (await dispatcher.startWindow());
      const { isFull } = dispatcher;
      await dispatcher.ended();
      // Again from the beginning for what waited for another transition of its internal_reference, and in the place of what was
      // taken back.
      if (dispatcher.isFull || !(dispatcher.isPassedOver || isFull)) break;
    }
  } finally {
    await dispatcher.ended();
  }
  const { settled, parked, retrying } = counts;
  await mergeTally(options);
  const [row = {}] = await statements.run('count_due', [settings.account]);
  return Object.freeze({ settled, parked, retrying, left: numberOf(row, 'count') });
}

import { ConfigurationError } from '@payment-service/core';
import { numberOf } from '../store/store.ts';
import { pause, within } from '../time.ts';
import { attempt, type Due, dueIn, type Outcome, type WorkContext } from './attempt.ts';
import { mergeTally } from './tally.ts';
import { waitForStore } from './until-answered.ts';
import type { Wakeup } from './wakeup.ts';

export interface DispatcherOptions<Tx> extends WorkContext<Tx> {
  readonly concurrency: number;
}

interface PassOptions<Tx> extends DispatcherOptions<Tx> {
  /** What becomes due after its beginning is left. @default false */
  readonly isPass?: boolean;
  readonly onOutcome?: (outcome: Outcome) => void;
  /** An internal_reference is free again, of which a transition was passed over. */
  readonly onFree?: () => void;
}

export interface WorkOptions<Tx> extends DispatcherOptions<Tx> {
  readonly pollMs: number;
  readonly wakeup: Wakeup<Tx>;
  readonly ready: () => Promise<void>;
}

/** As many as the statement find_due gives. */
const WINDOW = 50;
/** How often the scan restarts: for what was due early and busy, and for retries. */
const FROM_BEGINNING_MS = 1000;
/** What was left to others is looked at after this time. */
const LEFT_OUT_MS = 20;
const BEGINNING = { nextAt: -1, id: 0 };

/**
 * Takes due transitions in windows and starts their attempts. A window begins where the last one ended, so that its cost does
 * not depend on how many are due.
 */
class Dispatcher<Tx> {
  readonly #options: PassOptions<Tx>;
  readonly #running = new Map<string, Promise<void>>();
  #mark: Pick<Due, 'nextAt' | 'id'> = BEGINNING;
  /** By the clock of the database: when a pass began. */
  #beganAt: number | undefined;
  /** Another process was faster, in the window that is worked on. */
  #isOvertaken = false;
  /** Due transitions were left to others since the beginning. */
  isLeftOut = false;
  /** One was left, since another one of its internal_reference was running here. */
  isPassedOver = false;

  constructor(options: PassOptions<Tx>) {
    this.#options = options;
  }

  /** The next window is the first one again. */
  restart(): void {
    this.#mark = BEGINNING;
    this.isLeftOut = false;
    this.isPassedOver = false;
  }

  /**
   * Starts the attempts of the next window, at most `limit`.
   *
   * @returns whether there may be another window after it.
   */
  async startWindow(limit: number = WINDOW): Promise<boolean> {
    const { statements, settings, signal, concurrency, isPass } = this.#options;
    const found = statements.run('find_due', [settings.account, this.#mark.nextAt, this.#mark.id]);
    const rows = await within(settings.storeTimeoutMs, found);
    const window = rows.map(dueIn);
    if (isPass && rows[0]) this.#beganAt ??= numberOf(rows[0], 'now');
    let started = 0;
    this.#isOvertaken = false;
    for (const [index, due] of window.entries()) {
      if (started >= limit) return true;
      if (this.#beganAt !== undefined && due.nextAt > this.#beganAt) return false;
      if (this.#isOvertaken && window.length === WINDOW) {
        // Others work on the same window, and each would try each of its entries. This one goes on somewhere further on, and
        // finds what it leaves out from the beginning.
        this.isLeftOut = true;
        this.#mark = window[index + Math.floor(settings.random() * (WINDOW - index))] ?? due;
        return true;
      }
      this.#mark = due;
      if (this.#running.has(due.subjectKey)) {
        this.isPassedOver = true;
        continue;
      }
      // A handler that may end the process runs alone: it takes no other's attempt with it.
      await this.#room(due.unfinished > 0 ? 1 : concurrency);
      if (signal.aborted) return false;
      this.#running.set(due.subjectKey, this.#run(due));
      started += 1;
      if (due.unfinished > 0) await this.#room(1);
    }
    return window.length === WINDOW;
  }

  /** Resolves when no attempt is running. */
  async ended(): Promise<void> {
    await this.#room(1);
  }

  /** Resolves when fewer than `most` attempts are running. */
  async #room(most: number): Promise<void> {
    while (this.#running.size >= most) await Promise.race(this.#running.values());
  }

  async #run(due: Due): Promise<void> {
    const outcome = await attempt(due, this.#options).catch(async (error: unknown) => {
      await waitForStore(error, 1, this.#options);
      return 'undone' as const;
    });
    this.#isOvertaken ||= outcome === 'overtaken';
    this.#options.onOutcome?.(outcome);
    this.#running.delete(due.subjectKey);
    // Another transition of an internal_reference that was being worked on.
    if (this.isPassedOver) this.#options.onFree?.();
  }
}

/** How many handlers may run at a time: at most as many as the store has connections for. */
export function concurrencyOf<Tx>(
  call: string,
  given: number | undefined,
  { store, handlers }: Pick<WorkContext<Tx>, 'store' | 'handlers'>,
): number {
  const { maxConcurrency = Number.POSITIVE_INFINITY } = store;
  const concurrency = given ?? Math.min(4, maxConcurrency);
  if (handlers.size === 0)
    throw new ConfigurationError('handler', `${call} needs a handler: call handle() before it.`);
  if (store.dialect === 'postgres' && concurrency > maxConcurrency) {
    throw new ConfigurationError(
      'concurrency',
      `The pool has connections for ${maxConcurrency} handlers at a time, and for ${concurrency} it needs a max of ` +
        `${concurrency + 2}: the inbox itself uses two. Raise its max, or lower concurrency.`,
    );
  }
  return Math.min(concurrency, maxConcurrency);
}

/** Works until the signal is aborted, through every outage of the store; running handlers end before it resolves. */
export async function dispatch<Tx>(options: WorkOptions<Tx>): Promise<void> {
  const { settings, signal, ready, wakeup, concurrency, pollMs } = options;
  const dispatcher = new Dispatcher({ ...options, onFree: wakeup.wake });
  let begunAt = Number.NEGATIVE_INFINITY;

  /** @returns how long to wait before the next window, in milliseconds. */
  async function work(): Promise<number> {
    if (performance.now() - begunAt > FROM_BEGINNING_MS) {
      dispatcher.restart();
      begunAt = performance.now();
    }
    if (await dispatcher.startWindow()) return 0;
    begunAt = Number.NEGATIVE_INFINITY;
    return dispatcher.isLeftOut ? Math.min(pollMs, LEFT_OUT_MS) : pollMs;
  }

  settings.emit({ name: 'worker.started', concurrency });
  let failures = 0;
  while (!signal.aborted) {
    // Before the look at the store: a wake-up that comes while the answer is under way must not be missed.
    const woken = wakeup.next;
    try {
      await ready();
      const waitMs = await work();
      failures = 0;
      if (waitMs > 0) await pause(waitMs, signal, woken);
    } catch (error) {
      failures += 1;
      await waitForStore(error, failures, options);
    }
  }
  await dispatcher.ended();
  settings.emit({ name: 'worker.stopped' });
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
  const dispatcher = new Dispatcher({ ...options, isPass: true, onOutcome });
  try {
    for (let before = -1; before < done() && !signal.aborted; ) {
      before = done();
      dispatcher.restart();
      while (done() < limit && (await dispatcher.startWindow(limit - done())))
        if (limit - done() <= WINDOW) await dispatcher.ended();
      await dispatcher.ended();
      // Again from the beginning for what waited for another transition of its internal_reference.
      if (!dispatcher.isPassedOver || done() >= limit) break;
    }
  } finally {
    await dispatcher.ended();
  }
  const { settled, parked, retrying } = counts;
  await mergeTally(options);
  const [row = {}] = await statements.run('count_due', [settings.account]);
  return Object.freeze({ settled, parked, retrying, left: numberOf(row, 'count') });
}

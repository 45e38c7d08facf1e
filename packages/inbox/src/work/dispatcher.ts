import { randomUUID } from 'node:crypto';
import { backoff } from '../options.ts';
import { numberOf, type Row } from '../store/store.ts';
import { pause, within } from '../time.ts';
import {
  type Due,
  dueIn,
  type Ended,
  type Outcome,
  type Start,
  type Turn,
  type WorkContext,
} from './attempt/attempt-stages.ts';
import { traceAttempt } from './attempt/attempt-trace.ts';
import { runUntilAnswered, waitForStore } from './attempt/until-answered.ts';
import { Newest } from './newest.ts';
import type { Wakeup } from './wakeup.ts';

export interface DispatcherOptions<Tx> extends WorkContext<Tx> {
  readonly concurrency: number;
}

interface PassOptions<Tx> extends DispatcherOptions<Tx> {
  /** Leaves transitions that become due after its beginning. @default false */
  readonly isPass?: boolean;
  /** How many transitions may be settled, parked or retried. @default no limit */
  readonly limit?: number;
  readonly onOutcome?: (outcome: Outcome) => void;
  /** An internal_reference of which a transition was skipped is free again. */
  readonly onFree?: () => void;
}

export interface WorkOptions<Tx> extends DispatcherOptions<Tx> {
  readonly pollMs: number;
  readonly wakeup: Wakeup<Tx>;
  readonly ready: () => Promise<void>;
}

/** The number of rows that the statement find_due returns. */
const WINDOW = 50;
/** How often the scan restarts: for what was due early and busy, and for retries. */
const FROM_BEGINNING_MS = 1000;
/** Where another process works on the same window, this one continues at one of so many further ones: see find_place. */
const AHEAD = 800;
/** After it has met others so often among the last ones that are due, it leaves them. */
const MAX_MEETINGS = 3;
/** Transitions that were left to others are checked after this time. */
const LEFT_OUT_MS = 20;
const BEGINNING = { nextAt: -1, id: 0 };
const LEFT: Ended = { outcome: 'undone' };

/**
 * Takes due transitions in windows and works on them in concurrent lanes. A window begins where the last one ended, so that its
 * cost does not depend on how many are due. A lane that settles a transition continues with the next one of the window, whose
 * start is committed together with that settlement. In a backlog, the oldest come first, but one start in four is of the newest:
 * a customer may be waiting for them.
 */
export class Dispatcher<Tx> {
  readonly #options: PassOptions<Tx>;
  /** The internal_references that lanes hold until their transitions have ended. */
  readonly #subjects = new Set<string>();
  readonly #newest: Newest<Tx>;
  #lanes = 0;
  /** Resolves when a lane has ended or has taken a transition from the window. */
  #changed = Promise.withResolvers<void>();
  /** The rest of the window, in order. */
  #window: Due[] = [];
  #mark: Pick<Due, 'nextAt' | 'id'> = BEGINNING;
  /** When a pass began, by the clock of the database. */
  #beganAt: number | undefined;
  /** How many may still start. */
  #left: number;
  /** Another process was faster in the current window. */
  #isOvertaken = false;
  /** Due transitions have been left to others since the beginning. */
  isLeftOut = false;
  /** A transition was left because another one of its internal_reference was running here. */
  isPassedOver = false;

  constructor(options: PassOptions<Tx>) {
    this.#options = options;
    this.#newest = new Newest(options);
    this.#left = options.limit ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#left === 0;
  }

  /** The scan restarts with the first window. */
  restart(): void {
    this.#mark = BEGINNING;
    this.#window = [];
    this.isLeftOut = false;
    this.isPassedOver = false;
  }

  /**
   * Works on the next window, until it is empty or until another one may be read while its last transitions are taken.
   *
   * @returns whether there may be another window after it.
   */
  async startWindow(): Promise<boolean> {
    const { settings, signal, concurrency } = this.#options;
    const isLong = await this.#read();
    const rest = isLong ? Math.min(concurrency, WINDOW / 2) : 0;
    this.#isOvertaken = false;
    for (let meetings = 0; ; ) {
      const due = this.#first();
      if (signal.aborted || this.isFull) return false;
      if (due === undefined || this.#window.length <= rest) return isLong;
      if (this.#isOvertaken) {
        // Other processes work on the same window, and each would try every entry of it. This one continues elsewhere, and
        // finds the skipped ones when the scan restarts.
        meetings += 1;
        this.isLeftOut = true;
        this.#isOvertaken = false;
        if (isLong || meetings > MAX_MEETINGS) {
          const [met = due] = this.#window;
          this.#window = [];
          if (isLong) await this.#jumpFrom(met);
          return isLong;
        }
        const from = Math.floor(settings.random() * this.#window.length);
        this.#window.push(...this.#window.splice(0, from));
        continue;
      }
      // A handler that may crash the process runs alone, so that no other attempt is lost with it.
      const isSuspect = due.unfinished > 0;
      if (this.#newest.isLookDue) {
        await this.#newest.look(this.#subjects, this.#beganAt);
        continue;
      }
      if (this.#lanes >= (isSuspect ? 1 : concurrency)) {
        await this.#changed.promise;
        continue;
      }
      this.#take(due);
      void this.#work(due, isSuspect);
      if (isSuspect) await this.ended();
    }
  }

  /** Resolves when no attempt is running. */
  async ended(): Promise<void> {
    while (this.#lanes > 0) await this.#changed.promise;
  }

  /** @returns whether there may be more after it. */
  async #read(): Promise<boolean> {
    const { store, statements, settings, isPass } = this.#options;
    const values = [settings.account, this.#mark.nextAt, this.#mark.id];
    if (store.dialect === 'postgres' && !isPass && this.#lanes + this.#window.length === 0)
      return this.#startFirst(values);
    return this.#found(await within(settings.storeTimeoutMs, statements.run('find_due', values)));
  }

  /** From where the other was met, not from the end of the window: its reference may be held for long. */
  async #jumpFrom({ nextAt, id }: Due): Promise<void> {
    const { statements, settings } = this.#options;
    const from = [settings.account, nextAt, id, Math.floor(settings.random() * AHEAD)];
    const [place] = await within(settings.storeTimeoutMs, statements.run('find_place', from));
    if (place !== undefined) this.#mark = { nextAt: numberOf(place, 'next_at'), id: numberOf(place, 'id') };
  }

  /** An idle worker finds and starts a transition in one round trip (decision D53). */
  async #startFirst(values: readonly (string | number)[]): Promise<boolean> {
    const { statements, settings } = this.#options;
    const startId = randomUUID();
    let rows: readonly Row[];
    try {
      // Has the same time limit as other starts: otherwise it might be committed after it was taken back.
      rows = await statements.run('start_first', [...values, backoff(1, settings), startId]);
    } catch (lost) {
      await waitForStore(lost, 1, this.#options);
      // It may be committed although its reply was lost: it must not count as a crash.
      await runUntilAnswered('take_back_unknown', [settings.account, startId], this.#options);
      return true;
    }
    const isLong = this.#found(rows);
    const [due] = this.#window;
    if (due === undefined || rows[0]?.['begun'] !== true) return isLong;
    this.#take(due);
    void this.#work(due, false, { startId, lastError: undefined });
    return isLong;
  }

  #found(rows: readonly Row[]): boolean {
    const { isPass } = this.#options;
    if (isPass && rows[0]) this.#beganAt ??= numberOf(rows[0], 'now');
    const until = this.#beganAt ?? Number.POSITIVE_INFINITY;
    const read = rows.map(dueIn).filter(({ nextAt }) => nextAt <= until);
    this.#mark = read.at(-1) ?? this.#mark;
    this.#window.push(...read);
    const isLong = read.length === WINDOW;
    this.#newest.isBehind = isLong;
    return isLong;
  }

  /** The first one that may run beside the others. */
  #first(): Due | undefined {
    const newest = this.#newest.first(this.#subjects);
    if (newest !== undefined) return newest;
    for (; ; this.#window.shift()) {
      const [due] = this.#window;
      if (due === undefined || !this.#subjects.has(due.subjectKey)) return due;
      this.isPassedOver = true;
    }
  }

  #take(due: Due): void {
    // One of the newest may be in the window as well.
    this.#window = this.#window.filter(({ id }) => id !== due.id);
    this.#newest.take(due);
    this.#subjects.add(due.subjectKey);
    this.#left -= 1;
    this.#change();
  }

  #takeNext(): Due | undefined {
    const due = this.#first();
    const isEnded = this.#options.signal.aborted || this.isFull;
    const isWaited = isEnded || this.#isOvertaken || this.#newest.isOld;
    if (due === undefined || isWaited || due.unfinished > 0) return undefined;
    this.#take(due);
    return due;
  }

  #change(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  /** One transition after the other, as long as there is a next one. */
  async #work(first: Due, isSuspect: boolean, begun?: Start): Promise<void> {
    const { signal, onOutcome, onFree } = this.#options;
    this.#lanes += 1;
    let start = begun;
    for (let due: Due | undefined = first; due !== undefined; ) {
      let next: Due | undefined;
      const takeNext = (): Due | undefined => {
        next = isSuspect ? undefined : this.#takeNext();
        return next;
      };
      // At the end, transitions that have not started stay unchanged, and a start is taken back.
      const isLeft: boolean = signal.aborted && due !== first && start === undefined;
      const { outcome, begun: after }: Ended = isLeft ? LEFT : await this.#attempt(due, { start, takeNext });
      if (outcome === 'overtaken' && due.isNewest) this.#newest.leave();
      else this.#isOvertaken ||= outcome === 'overtaken';
      if (outcome === 'overtaken' || outcome === 'undone') this.#left += 1;
      onOutcome?.(outcome);
      this.#subjects.delete(due.subjectKey);
      // Another transition of an internal_reference that was already being worked on.
      if (this.isPassedOver) onFree?.();
      [due, start] = [next, after];
    }
    this.#lanes -= 1;
    this.#change();
  }

  async #attempt(due: Due, turn: Turn): Promise<Ended> {
    return traceAttempt(due, this.#options, turn).catch(async (error: unknown) => {
      await waitForStore(error, 1, this.#options);
      return LEFT;
    });
  }
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
    // Before the store is read: a wake-up that arrives while the reply is under way must not be missed.
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

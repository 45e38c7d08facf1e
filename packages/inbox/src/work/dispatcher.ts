import { failureCode } from '../events.ts';
import { pause, within } from '../time.ts';
import { attempt, type Due, dueIn, type WorkContext } from './attempt.ts';
import type { Wakeup } from './wakeup.ts';

export interface DispatcherOptions<Tx> extends WorkContext<Tx> {
  readonly concurrency: number;
  readonly pollMs: number;
  readonly wakeup: Wakeup;
  readonly ready: () => Promise<void>;
}

/** As many as the statement find_due gives. */
const WINDOW = 50;
/** How often the beginning is looked at again: for what was due early and busy, and for retries. */
const FROM_BEGINNING_MS = 1000;
/** What was left to others is looked at after this time. */
const LEFT_OUT_MS = 20;
const MAX_PAUSE_MS = 10_000;
const BEGINNING = { nextAt: -1, id: 0 };

/**
 * Takes due transitions in windows and runs their attempts, until the signal is aborted; running handlers end before `run()`
 * resolves. A window begins where the last one ended, so that its cost does not depend on how many are due.
 */
export class Dispatcher<Tx> {
  readonly #options: DispatcherOptions<Tx>;
  readonly #running = new Map<string, Promise<void>>();
  #mark: { readonly nextAt: number; readonly id: number } = BEGINNING;
  #begunAt = Number.NEGATIVE_INFINITY;
  #isPassedOver = false;
  /** Whether another process was faster, in the window that is worked on. */
  #isOvertaken = false;
  /** Whether due transitions were left to others since the beginning. */
  #isLeftOut = false;

  constructor(options: DispatcherOptions<Tx>) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { settings, signal, ready, wakeup, concurrency } = this.#options;
    settings.emit({ name: 'worker.started', concurrency });
    let failures = 0;
    while (!signal.aborted) {
      // Before the look at the store: a wake-up that comes while the answer is under way must not be missed.
      const woken = wakeup.next;
      try {
        await ready();
        const waitMs = await this.#window();
        failures = 0;
        if (waitMs > 0) await pause(waitMs, signal, woken);
      } catch (error) {
        failures += 1;
        const longest = Math.min(MAX_PAUSE_MS, 250 * 2 ** Math.min(failures - 1, 10));
        const retryInMs = Math.round(longest * (0.5 + settings.random() / 2));
        settings.emit({ name: 'store.unavailable', failure: failureCode(error), retryInMs });
        await pause(retryInMs, signal, wakeup.next);
      }
    }
    await Promise.all(this.#running.values());
    settings.emit({ name: 'worker.stopped' });
  }

  /** @returns how long to wait before the next one, in milliseconds. */
  async #window(): Promise<number> {
    const { statements, settings, signal, pollMs } = this.#options;
    if (performance.now() - this.#begunAt > FROM_BEGINNING_MS) this.#fromBeginning();
    const { nextAt, id } = this.#mark;
    const due = statements.run('find_due', [settings.account, nextAt, id]);
    const rows = await within(settings.storeTimeoutMs, due);
    const window = rows.map(dueIn);
    this.#isOvertaken = false;
    for (const [index, due] of window.entries()) {
      if (this.#isOvertaken && window.length === WINDOW) {
        // Others work on the same window, and each would try each of its entries. This one goes on somewhere further on, and
        // finds what it leaves out from the beginning.
        this.#isLeftOut = true;
        this.#mark = window[index + Math.floor(settings.random() * (WINDOW - index))] ?? due;
        return 0;
      }
      if (this.#running.has(due.subjectKey)) {
        this.#isPassedOver = true;
        continue;
      }
      // A handler that may end the process runs alone: it takes no other's attempt with it.
      await this.#room(due.unfinished > 0 ? 1 : this.#options.concurrency);
      if (signal.aborted) return 0;
      this.#start(due);
      if (due.unfinished > 0) await this.#room(1);
      this.#mark = due;
    }
    this.#mark = window.at(-1) ?? this.#mark;
    if (window.length === WINDOW) return 0;
    const waitMs = this.#isLeftOut ? Math.min(pollMs, LEFT_OUT_MS) : pollMs;
    this.#fromBeginning();
    return waitMs;
  }

  #fromBeginning(): void {
    this.#mark = BEGINNING;
    this.#begunAt = performance.now();
    this.#isLeftOut = false;
  }

  /** Resolves when fewer than `most` attempts are running. */
  async #room(most: number): Promise<void> {
    while (this.#running.size >= most) await Promise.race(this.#running.values());
  }

  #start(due: Due): void {
    const { wakeup, settings, pollMs } = this.#options;
    const running = attempt(due, this.#options)
      .then((isOwn) => {
        this.#isOvertaken ||= !isOwn;
      })
      .catch((error: unknown) => {
        settings.emit({ name: 'store.unavailable', failure: failureCode(error), retryInMs: pollMs });
      })
      .finally(() => {
        this.#running.delete(due.subjectKey);
        // Another transition of an internal_reference that was being worked on.
        if (this.#isPassedOver) wakeup.wake();
        this.#isPassedOver = false;
      });
    this.#running.set(due.subjectKey, running);
  }
}

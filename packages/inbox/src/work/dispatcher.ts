import { failureCode } from '../events.ts';
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
const LONGEST_PAUSE_MS = 10_000;
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

  constructor(options: DispatcherOptions<Tx>) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { settings, signal, ready, wakeup, pollMs, concurrency } = this.#options;
    settings.emit({ name: 'worker.started', concurrency });
    let failures = 0;
    while (!signal.aborted) {
      // Before the look at the store: what is kept while the answer is under way wakes nobody who does not wait yet.
      const { wakes } = wakeup;
      try {
        await ready();
        const isAll = await this.#window();
        failures = 0;
        if (isAll) await wakeup.wait(pollMs, signal, wakes);
      } catch (error) {
        failures += 1;
        const longest = Math.min(LONGEST_PAUSE_MS, 250 * 2 ** Math.min(failures - 1, 10));
        const retryInMs = Math.round(longest * (0.5 + settings.random() / 2));
        settings.emit({ name: 'store.unavailable', failure: failureCode(error), retryInMs });
        await wakeup.wait(retryInMs, signal);
      }
    }
    await Promise.all(this.#running.values());
    settings.emit({ name: 'worker.stopped' });
  }

  /** @returns whether that was all that is due. */
  async #window(): Promise<boolean> {
    const { statements, settings, signal } = this.#options;
    if (performance.now() - this.#begunAt > FROM_BEGINNING_MS) this.#fromBeginning();
    const { nextAt, id } = this.#mark;
    const rows = await statements.run('find_due', [settings.account, nextAt, id]);
    for (const due of rows.map(dueIn)) {
      if (this.#running.has(due.subjectKey)) {
        this.#isPassedOver = true;
        continue;
      }
      // A handler that may end the process runs alone: it takes no other's attempt with it.
      await this.#room(due.unfinished > 0 ? 1 : this.#options.concurrency);
      if (signal.aborted) return true;
      this.#start(due);
      if (due.unfinished > 0) await this.#room(1);
      this.#mark = due;
    }
    const last = rows.at(-1);
    if (last !== undefined) this.#mark = dueIn(last);
    const isAll = rows.length < WINDOW;
    if (isAll) this.#fromBeginning();
    return isAll;
  }

  #fromBeginning(): void {
    this.#mark = BEGINNING;
    this.#begunAt = performance.now();
  }

  /** Resolves when fewer than `most` attempts are running. */
  async #room(most: number): Promise<void> {
    while (this.#running.size >= most) await Promise.race(this.#running.values());
  }

  #start(due: Due): void {
    const { wakeup, settings, pollMs } = this.#options;
    const running = attempt(due, this.#options)
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

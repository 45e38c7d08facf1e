import type { Settings } from '../options.ts';
import { failureCode } from '../reporting/events.ts';
import { sentencesOf } from '../reporting/finding.ts';
import { warn } from '../reporting/problems.ts';
import type { Readiness } from '../store/readiness.ts';
import type { Statements } from '../store/statements.ts';
import type { Call, Store } from '../store/store.ts';
import { pause } from '../time.ts';
import { checkDue, readDue } from './due-checks.ts';

export interface WakeupOptions<Tx> {
  readonly store: Store<Tx>;
  readonly statements: Statements<Tx>;
  readonly settings: Settings;
  readonly readiness: Readiness<Tx>;
}

const RELISTEN_MS = 1000;
/** Fewer callbacks than this do not delay the next NOTIFY. */
const MANY = 5;
/** After a NOTIFY for many callbacks, the next one waits a millisecond for each of them, up to this limit (decision D55). */
const NOTIFY_MS = 25;
const WATCH_MS = 60_000;

/**
 * Lets idle workers wait, and wakes them when a callback was kept: immediately in this process, by NOTIFY in others.
 *
 * While a process keeps callbacks and does not work, it checks, with the first one and then at most once a minute, whether they
 * are worked on and whether the tables are still those that it knows. A worker finds both anyway.
 */
export class Wakeup<Tx> {
  readonly #options: WakeupOptions<Tx>;
  #next = new AbortController();
  #isNotifying = false;
  #untold = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** A callback was kept since the last look, or is still due. */
  #isAwaited = false;
  #isReported = false;
  #isClosed = false;
  /** A worker of this process runs. */
  isWorking = false;

  constructor(options: WakeupOptions<Tx>) {
    this.#options = options;
  }

  /** Aborted by the next `wake()`. Take it before reading the store: it shows whether the read may have missed something. */
  get next(): AbortSignal {
    return this.#next.signal;
  }

  readonly wake = (): void => {
    const woken = this.#next;
    this.#next = new AbortController();
    // With a reason, since the default is an error with a stack.
    woken.abort('woken');
  };

  /** Before the replies are sent, so that a worker can already begin. @param isTold other processes were notified. */
  kept(count: number, isTold: boolean): void {
    this.wake();
    if (this.isWorking) return;
    this.#isAwaited = true;
    if (this.#timer === undefined && !this.#isClosed) this.#looking = this.#look();
    if (!isTold) this.#notify(count);
  }

  /** For the message that keeps a few callbacks; undefined if it is sent when they are kept, or not at all. */
  wakeCall(count: number): Call | undefined {
    const { store, statements, settings } = this.#options;
    if (this.isWorking || store.runsAfter !== true || this.#isNotifying || count >= MANY) return undefined;
    return { statement: statements.get('notify'), values: [settings.account] };
  }

  /** Wakes for callbacks that other processes keep, through every outage: during one, the poll finds what is due. */
  async listen(signal: AbortSignal): Promise<void> {
    const { store, settings } = this.#options;
    let isReported = false;
    while (store.listen !== undefined && !signal.aborted) {
      const failed = await store.listen(settings.account, this.wake, signal).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      // If the store does not answer either, the worker reports it.
      if (failed !== undefined && !isReported && !signal.aborted && (await this.#notifyOthers())) {
        isReported = true;
        const what = `work() cannot listen (${failureCode(failed.error)}), so it finds callbacks of other processes only when it polls`;
        warn(
          settings.report,
          'worker_polls',
          `${what}; it tries again. Check the pool that you pass as listen.`,
        );
      }
      await pause(RELISTEN_MS, signal);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** A few callbacks are reported immediately; many in a row share a NOTIFY. */
  #notify(count: number): void {
    if (this.#options.store.dialect === 'sqlite') return;
    this.#untold += count;
    if (!this.#isNotifying) void this.#tell();
  }

  async #tell(): Promise<void> {
    this.#isNotifying = true;
    while (this.#untold > 0) {
      const told = this.#untold;
      this.#untold = 0;
      await this.#notifyOthers();
      if (told >= MANY) await pause(Math.min(NOTIFY_MS, told));
    }
    this.#isNotifying = false;
  }

  /** @returns whether the store has answered; the poll finds what a lost NOTIFY missed. */
  #notifyOthers(): Promise<boolean> {
    const { statements, settings } = this.#options;
    return statements.run('notify', [settings.account]).then(
      () => true,
      () => false,
    );
  }

  async #look(): Promise<void> {
    const { settings, readiness } = this.#options;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isAwaited) this.#looking = this.#look();
    }, WATCH_MS).unref();
    try {
      await readiness.checkTables();
      const due = this.isWorking ? undefined : await readDue(this.#options);
      this.#isAwaited = due !== undefined && due.oldestSeconds > 0;
      const late = due && [...checkDue(due)].find(({ check }) => check === 'worker');
      if (late !== undefined && !this.#isReported) warn(settings.report, 'no_worker', sentencesOf(late));
      this.#isReported = late !== undefined;
    } catch {
      // An unavailable store is reported where a callback needs it.
    }
  }
}

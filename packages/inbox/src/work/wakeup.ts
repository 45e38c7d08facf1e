import { failureCode } from '../events.ts';
import type { Settings } from '../options.ts';
import { type Report, warn } from '../problems.ts';
import type { Statements } from '../store/statements.ts';
import type { Call, Store } from '../store/store.ts';
import { pause } from '../time.ts';

const RELISTEN_MS = 1000;
/** A group of so many callbacks is kept before its NOTIFY is sent (decision D55). */
const MANY = 5;

/** Lets idle workers wait, and wakes them when a callback was kept: immediately in this process, by NOTIFY in others. */
export class Wakeup<Tx> {
  readonly #store: Store<Tx>;
  readonly #statements: Statements<Tx>;
  readonly #account: string;
  readonly #report: Report;
  #next = new AbortController();
  #isNotifying = false;
  #isUntold = false;

  constructor(store: Store<Tx>, statements: Statements<Tx>, { account, report }: Settings) {
    this.#store = store;
    this.#statements = statements;
    this.#account = account;
    this.#report = report;
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

  /** For a process that does not work itself. What is kept during a NOTIFY shares the next one. */
  async notify(): Promise<void> {
    if (this.#store.dialect === 'sqlite') return;
    this.#isUntold = true;
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    while (this.#isUntold) {
      this.#isUntold = false;
      await this.#notifyOthers();
    }
    this.#isNotifying = false;
  }

  /** For the message that keeps a few callbacks; undefined if `notify()` must be called when they are kept. */
  wakeCall(count: number): Call | undefined {
    if (this.#store.runsAfter !== true || this.#isNotifying || count >= MANY) return undefined;
    return { statement: this.#statements.get('notify'), values: [this.#account] };
  }

  /** Wakes for callbacks that other processes keep, through every outage: during one, the poll finds what is due. */
  async listen(signal: AbortSignal): Promise<void> {
    let isReported = false;
    while (this.#store.listen !== undefined && !signal.aborted) {
      const failed = await this.#store.listen(this.#account, this.wake, signal).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      // If the store does not answer either, the worker reports it.
      if (failed !== undefined && !isReported && !signal.aborted && (await this.#notifyOthers())) {
        isReported = true;
        const what = `work() cannot listen (${failureCode(failed.error)}), so it finds callbacks of other processes only when it polls`;
        warn(
          this.#report,
          'worker_polls',
          `${what}; it tries again. Check the pool that you pass as listen.`,
        );
      }
      await pause(RELISTEN_MS, signal);
    }
  }

  /** @returns whether the store has answered; the poll finds what a lost NOTIFY missed. */
  #notifyOthers(): Promise<boolean> {
    return this.#statements.run('notify', [this.#account]).then(
      () => true,
      () => false,
    );
  }
}

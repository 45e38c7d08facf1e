import { failureCode } from '../reporting/events.ts';
import type { Settings } from '../options.ts';
import { type Report, warn } from '../reporting/problems.ts';
import type { Statements } from '../store/statements.ts';
import type { Call, Store } from '../store/store.ts';
import { pause } from '../time.ts';

const RELISTEN_MS = 1000;
/** Fewer callbacks than this do not delay the next NOTIFY. */
const MANY = 5;
/** After a NOTIFY for many callbacks, the next one waits a millisecond for each of them, up to this limit (decision D55). */
const NOTIFY_MS = 25;

/** Lets idle workers wait, and wakes them when a callback was kept: immediately in this process, by NOTIFY in others. */
export class Wakeup<Tx> {
  readonly #store: Store<Tx>;
  readonly #statements: Statements<Tx>;
  readonly #account: string;
  readonly #report: Report;
  #next = new AbortController();
  #isNotifying = false;
  #untold = 0;

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

  /** For a process that does not work itself. A few callbacks are reported immediately; many in a row share a NOTIFY. */
  notify(count: number): void {
    if (this.#store.dialect === 'sqlite') return;
    this.#untold += count;
    if (!this.#isNotifying) void this.#tell();
  }

  /** For the message that keeps a few callbacks; undefined if `notify()` must be called when they are kept. */
  wakeCall(count: number): Call | undefined {
    if (this.#store.runsAfter !== true || this.#isNotifying || count >= MANY) return undefined;
    return { statement: this.#statements.get('notify'), values: [this.#account] };
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

import type { Settings } from '../options.ts';
import type { Statements } from '../store/statements.ts';
import type { Store } from '../store/store.ts';
import { pause } from '../time.ts';

const RELISTEN_MS = 1000;
/** NOTIFY is a transaction, and lets one commit at a time. */
const NOTIFY_MS = 25;

/** Lets idle workers wait, and wakes them when something was kept: here immediately, in other processes by NOTIFY. */
export class Wakeup<Tx> {
  readonly #store: Store<Tx>;
  readonly #statements: Statements<Tx>;
  readonly #account: string;
  #next = new AbortController();
  #isNotifying = false;
  #notifiedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store<Tx>, statements: Statements<Tx>, { account }: Settings) {
    this.#store = store;
    this.#statements = statements;
    this.#account = account;
  }

  /** Aborted by the next `wake()`. Taken before a look at the store, it tells what the look may have missed. */
  get next(): AbortSignal {
    return this.#next.signal;
  }

  readonly wake = (): void => {
    const woken = this.#next;
    this.#next = new AbortController();
    // With a reason, since the default one is an error with a stack.
    woken.abort('woken');
  };

  /** At most once in NOTIFY_MS, for a process that does not work itself. */
  notify(): void {
    if (this.#store.listen === undefined || this.#isNotifying) return;
    this.#isNotifying = true;
    const run = (): void => {
      this.#isNotifying = false;
      this.#notifiedAt = performance.now();
      // The poll finds what a lost NOTIFY missed.
      this.#statements.run('notify', [this.#account]).catch(() => undefined);
    };
    setTimeout(run, Math.max(0, this.#notifiedAt + NOTIFY_MS - performance.now())).unref();
  }

  /** Wakes for what other processes keep, through every outage: until then, the poll finds what is due. */
  async listen(signal: AbortSignal): Promise<void> {
    while (this.#store.listen !== undefined && !signal.aborted) {
      await this.#store.listen(this.#account, this.wake, signal).catch(() => undefined);
      await pause(RELISTEN_MS, signal);
    }
  }
}

import { warn } from '../problems.ts';
import type { Readiness } from '../store/readiness.ts';
import { LATE_SECONDS, oldestDueSeconds } from './health.ts';
import type { OperatorContext } from './views.ts';

const EVERY_MS = 60_000;

export interface WatchOptions<Tx> {
  readonly context: OperatorContext<Tx>;
  readonly isWorking: () => boolean;
  readonly readiness: Readiness<Tx>;
}

/**
 * While a process keeps callbacks, it checks, with the first one and then at most once a minute, whether they are worked on and
 * whether the tables are still those that it knows. Its timer does not keep the process alive.
 */
export class Watch<Tx> {
  readonly #options: WatchOptions<Tx>;
  #timer: NodeJS.Timeout | undefined;
  #isAwaited = false;
  #isReported = false;
  #isClosed = false;
  #looking: Promise<void> | undefined;

  constructor(options: WatchOptions<Tx>) {
    this.#options = options;
  }

  /** A callback was kept. A worker of this process finds it and also checks the tables. */
  readonly kept = (): void => {
    if (this.#options.isWorking()) return;
    this.#isAwaited = true;
    if (this.#timer === undefined && !this.#isClosed) this.#looking = this.#look();
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { readiness, context, isWorking } = this.#options;
    const again = (): void => {
      this.#timer = undefined;
      if (this.#isAwaited) this.#looking = this.#look();
    };
    this.#timer = setTimeout(again, EVERY_MS).unref();
    try {
      await readiness.checkTables();
      const seconds = isWorking() ? 0 : await oldestDueSeconds(context);
      this.#isAwaited = seconds > 0;
      if (seconds >= LATE_SECONDS && !this.#isReported) {
        warn(
          context.settings.report,
          'no_worker',
          `A transition has been due for ${Math.floor(seconds)} seconds, and this process only keeps callbacks without working on ` +
            'them: probably no process runs inbox.work(). Nothing is lost, and nothing is applied until one does.',
        );
      }
      this.#isReported = seconds >= LATE_SECONDS;
    } catch {
      // An unavailable store is reported where a callback needs it.
    }
  }
}

import { within } from './within.ts';

/** How long to wait for the turn, in milliseconds, and what to say when it has not come by then. */
export interface Patience {
  readonly mostMs: number;
  readonly message: string;
}

/** One after the other, first come first served. */
export class Turn {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves when it is the caller's turn, with the function that ends it.
   *
   * @throws {TimedOut} when it has not come in time; it then passes to the next one by itself.
   */
  async take(patience?: Patience): Promise<() => void> {
    const before = this.#last;
    let end: () => void = () => undefined;
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    try {
      await (patience === undefined ? before : within(patience.mostMs, before, patience.message));
    } catch (error) {
      void before.then(end);
      throw error;
    }
    return end;
  }

  async during<T>(act: () => Promise<T>, patience?: Patience): Promise<T> {
    const end = await this.take(patience);
    try {
      return await act();
    } finally {
      end();
    }
  }
}

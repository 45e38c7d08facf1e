import { within } from '../time.ts';

/** One after the other, first come first served. */
export class Turn {
  #last: Promise<void> = Promise.resolve();

  /** @throws {TimedOut} When the turn has not come in time; it then passes to the next one by itself. */
  async during<T>(act: () => Promise<T>, waitMs: number): Promise<T> {
    const before = this.#last;
    let end: () => void = () => undefined;
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    try {
      await within(waitMs, before);
    } catch (error) {
      void before.then(end);
      throw error;
    }
    try {
      return await act();
    } finally {
      end();
    }
  }
}

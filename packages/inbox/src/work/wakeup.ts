/** Lets idle workers wait, and wakes them when something was kept in this process. */
export class Wakeup {
  readonly #waiting = new Set<() => void>();
  #wakes = 0;

  /** How often `wake()` was called: taken before a look at the store, it tells what the look may have missed. */
  get wakes(): number {
    return this.#wakes;
  }

  readonly wake = (): void => {
    this.#wakes += 1;
    for (const stop of [...this.#waiting]) stop();
  };

  /** Resolves after the time, on `wake()` or when there was one after `since`, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal, since: number = this.#wakes): Promise<void> {
    if (signal.aborted || since !== this.#wakes) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(stop);
        resolve();
      };
      const timer = setTimeout(stop, ms);
      signal.addEventListener('abort', stop);
      this.#waiting.add(stop);
    });
  }
}

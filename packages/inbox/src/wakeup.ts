/** Lets idle workers wait, and wakes them when something was kept in this process. */
export class Wakeup {
  readonly #waiting = new Set<() => void>();

  wake(): void {
    for (const stop of [...this.#waiting]) stop();
  }

  /** Resolves after the time, on `wake()`, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
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

/** Lets idle workers wait, and wakes them when something was kept in this process. */
export class Wakeup {
  #next = new AbortController();

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
}

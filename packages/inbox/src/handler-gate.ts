/**
 * Lets handlers run side by side, and one that may have ended a process before alone: should it do so again, it takes
 * no other transition with it, and no innocent one is counted as its like.
 */
export class HandlerGate {
  #running = 0;
  #isAlone = false;
  readonly #waiting: { readonly isSuspect: boolean; readonly enter: () => void }[] = [];

  /** Resolves when the handler may run, with the function to call after it. */
  async enter(isSuspect: boolean): Promise<() => void> {
    await new Promise<void>((enter) => {
      this.#waiting.push({ isSuspect, enter });
      this.#admit();
    });
    return () => {
      this.#running -= 1;
      this.#isAlone = false;
      this.#admit();
    };
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#isAlone || (next.isSuspect && this.#running > 0)) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#isAlone = next.isSuspect;
      next.enter();
    }
  }
}

/** Ends the run that it was given for. */
export type Leave = () => void;

interface Waiting {
  readonly isSuspect: boolean;
  readonly enter: () => void;
}

/**
 * Lets handlers run side by side, and one that may have ended a process before alone: should it do so again, it takes
 * no other transition with it, and no innocent one is counted as its like.
 */
export class HandlerGate {
  #running = 0;
  #isAlone = false;
  #waiting: Waiting[] = [];

  /** @returns undefined when the handler may not run now: then nothing may be kept locked while `enter()` is waited for. */
  tryEnter(isSuspect: boolean): Leave | undefined {
    return this.#waiting.length === 0 && this.#mayEnter(isSuspect) ? this.#admit(isSuspect) : undefined;
  }

  /** Resolves when such a handler may run; with undefined when the signal is aborted before. */
  enter(isSuspect: boolean, signal: AbortSignal): Promise<Leave | undefined> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        this.#letIn();
        resolve(undefined);
      };
      const waiting: Waiting = {
        isSuspect,
        enter: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(this.#admit(isSuspect));
        },
      };
      if (signal.aborted) return resolve(undefined);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiting);
      this.#letIn();
    });
  }

  #mayEnter(isSuspect: boolean): boolean {
    return !this.#isAlone && (!isSuspect || this.#running === 0);
  }

  #admit(isSuspect: boolean): Leave {
    this.#running += 1;
    this.#isAlone = isSuspect;
    return () => {
      this.#running -= 1;
      this.#isAlone = false;
      this.#letIn();
    };
  }

  /** First come first served: a suspect that waits keeps others from entering before it. */
  #letIn(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && this.#mayEnter(next.isSuspect);
      next = this.#waiting[0]
    ) {
      this.#waiting.shift();
      next.enter();
    }
  }
}

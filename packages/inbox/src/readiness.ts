/** Sets something up once, when it is first needed; after a failure, the next one who needs it tries again. */
export class Readiness {
  readonly #setUp: () => Promise<void>;
  #pending: Promise<void> | undefined;
  #isReady = false;

  constructor(setUp: () => Promise<void>) {
    this.#setUp = setUp;
  }

  readonly ready = (): Promise<void> => {
    if (this.#pending !== undefined) return this.#pending;
    const pending = this.#setUp();
    this.#pending = pending;
    pending.then(
      () => {
        this.#isReady = true;
      },
      () => {
        this.#pending = undefined;
      },
    );
    return pending;
  };

  /** Whether it has been set up. */
  get isReady(): boolean {
    return this.#isReady;
  }
}

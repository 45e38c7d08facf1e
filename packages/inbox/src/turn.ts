/** One after the other, first come first served. */
export class Turn {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, with the function that ends it. */
  async take(): Promise<() => void> {
    const before = this.#last;
    let end: () => void = () => undefined;
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }

  async during<T>(act: () => Promise<T>): Promise<T> {
    const end = await this.take();
    try {
      return await act();
    } finally {
      end();
    }
  }
}

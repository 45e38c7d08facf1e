/**
 * SQLite has one writer. Within a process the inbox's own writers take turns here, first come first served, instead of
 * polling for the lock of the file.
 */
export class WriteTurn {
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

  async during<T>(write: () => Promise<T>): Promise<T> {
    const end = await this.take();
    try {
      return await write();
    } finally {
      end();
    }
  }
}

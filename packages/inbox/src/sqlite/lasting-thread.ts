import type { SqliteThread } from './sqlite-thread.ts';

/** A thread that is opened when it is first needed, and another one when it has ended. */
export class LastingThread {
  readonly #open: () => Promise<SqliteThread>;
  #thread: Promise<SqliteThread> | undefined;

  constructor(open: () => Promise<SqliteThread>) {
    this.#open = open;
  }

  async opened(): Promise<SqliteThread> {
    const current = this.#thread;
    if (current !== undefined && !(await current).isOver) return current;
    if (this.#thread !== current) return this.opened();
    const opening = this.#open();
    this.#thread = opening;
    opening.catch(() => {
      if (this.#thread === opening) this.#thread = undefined;
    });
    return opening;
  }

  async close(): Promise<void> {
    const thread = await this.#thread;
    await thread?.close();
  }
}

import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { IntakeRecord } from '../intake-record.ts';
import type { IntakeOutcome } from '../store.ts';
import { packRecords } from './packed-records.ts';
import { errorFrom, SqliteError } from './sqlite-error.ts';
import type { ThreadMessage, ThreadReplies, ThreadReply, ThreadRequest } from './thread-messages.ts';

interface Waiting {
  readonly resolve: (value: ThreadReplies[keyof ThreadReplies]) => void;
  readonly reject: (error: Error) => void;
}

/** This side of a thread that owns a connection. Requests are answered in order. */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isOver = false;

  constructor() {
    this.#worker = new Worker(createRequire(import.meta.url).resolve('#sqlite-thread'));
    // Only while something is asked does the thread keep the process alive.
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply) => this.#settle(reply));
    this.#worker.on('error', (error: Error) => this.#end(error.message));
    this.#worker.on('exit', () => this.#end('it has ended'));
  }

  request<K extends ThreadRequest['kind']>(
    request: Extract<ThreadRequest, { kind: K }>,
    handedOver: readonly ArrayBuffer[] = [],
  ): Promise<ThreadReplies[K]> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new SqliteError('The SQLite thread has ended.'));
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve: (value) => resolve(value as ThreadReplies[K]), reject });
      this.#worker.ref();
      this.#post({ id: this.#lastId, request }, handedOver);
    });
  }

  receive(account: string, records: readonly IntakeRecord[]): Promise<readonly IntakeOutcome[]> {
    const packed = packRecords(records);
    return this.request({ kind: 'receive', account, records: packed }, [packed.bytes.buffer]);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    await this.request({ kind: 'close' });
    // Its end is waited for as well: without this the process could end first, and with it whoever waits here.
    this.#worker.ref();
    await ended;
  }

  /** @throws DataCloneError for a value that cannot go to a thread, such as a promise. */
  #post(message: ThreadMessage, handedOver: readonly ArrayBuffer[]): void {
    try {
      this.#worker.postMessage(message, handedOver);
    } catch (error) {
      this.#forget(message.id);
      throw error;
    }
  }

  #forget(id: number): void {
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  #settle(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#forget(reply.id);
    if ('failure' in reply) waiting?.reject(errorFrom(reply.failure));
    else waiting?.resolve(reply.value);
  }

  #end(why: string): void {
    this.#isOver = true;
    for (const { reject } of this.#waiting.values()) {
      reject(new SqliteError(`The SQLite thread cannot answer: ${why}.`));
    }
    this.#waiting.clear();
  }
}

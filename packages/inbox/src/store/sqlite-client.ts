import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { ConfigurationError } from '@payment-service/core';
import type { SqliteResult, ThreadFailure, ThreadReply, ThreadRequest } from './sqlite-thread.ts';

/** This side of the thread that owns the connections. Requests are answered in order; a thread that died is replaced. */
export class SqliteThread {
  readonly #path: string;
  readonly #waiting = new Map<number, PromiseWithResolvers<SqliteResult>>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async request(request: ThreadRequest): Promise<SqliteResult> {
    const worker = this.#started();
    this.#lastId += 1;
    // Before anything waits: it throws for a value that cannot go to a thread, such as a promise.
    worker.postMessage({ id: this.#lastId, request });
    const waiting = Promise.withResolvers<SqliteResult>();
    this.#waiting.set(this.#lastId, waiting);
    // Only while something is asked does the thread keep the process alive.
    worker.ref();
    return waiting.promise;
  }

  /** Not twice at the same time. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const closed = this.request({ kind: 'close' });
    // What another inbox on the same store asks from now on gets a thread of its own.
    this.#worker = undefined;
    await closed;
    // Without this the process could end first, before close() has resolved.
    worker.ref();
    await ended;
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(createRequire(import.meta.url).resolve('#sqlite-thread'), {
      workerData: { path: this.#path },
    });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (reply: ThreadReply) => this.#settle(reply));
    worker.on('error', (error: Error) => this.#end(worker, error.message));
    worker.on('exit', () => this.#end(worker, 'it has ended'));
    return worker;
  }

  #settle({ id, result, failure }: ThreadReply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (failure === undefined) waiting?.resolve(result ?? { rows: [], rowCount: 0 });
    else waiting?.reject(errorFrom(failure));
  }

  #end(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values())
      reject(errorFrom({ message: `The SQLite thread cannot answer: ${why}.` }));
    this.#waiting.clear();
  }
}

/** An error of SQLite with its result code, or a misconfiguration. */
function errorFrom({ option, message, ...codes }: ThreadFailure): Error {
  if (option !== undefined) return new ConfigurationError(option, message);
  return Object.assign(new Error(message), { name: 'SqliteError', ...codes });
}

import { Worker } from 'node:worker_threads';
import { ConfigurationError } from '@payment-service/core';
import { sqliteProgram } from './sqlite-program.ts';
import type { SqliteResult, ThreadData, ThreadFailure, ThreadReply, ThreadRequest } from './sqlite-thread.ts';

/** The client of the thread that owns the connections. Requests are answered in order; a thread that died is replaced. */
export class SqliteThread {
  readonly #data: ThreadData;
  readonly #waiting = new Map<number, PromiseWithResolvers<SqliteResult>>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(data: ThreadData) {
    this.#data = data;
  }

  async request(request: ThreadRequest): Promise<SqliteResult> {
    const worker = this.#started();
    this.#lastId += 1;
    // Before anything waits: it throws for a value that cannot be sent to a thread, such as a promise.
    worker.postMessage({ id: this.#lastId, request });
    const waiting = Promise.withResolvers<SqliteResult>();
    this.#waiting.set(this.#lastId, waiting);
    // The thread keeps the process alive only while a request is pending.
    worker.ref();
    return waiting.promise;
  }

  /** Not twice at the same time. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const closed = this.request({ kind: 'close' });
    // Later requests of another inbox on the same store get a new thread.
    this.#worker = undefined;
    await closed;
    // Without this the process could end before close() has resolved.
    worker.ref();
    await ended;
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(sqliteProgram, {
      eval: typeof sqliteProgram === 'string',
      workerData: this.#data,
    });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (reply: ThreadReply) => this.#settle(reply));
    worker.on('error', (error: Error) => {
      this.#end(worker, { message: `The SQLite thread cannot answer: ${error.message}.` });
    });
    worker.on('exit', () => this.#end(worker, { message: 'The SQLite thread has ended.' }));
    return worker;
  }

  #settle({ id, result, failure }: ThreadReply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (failure === undefined) waiting?.resolve(result ?? { rows: [], rowCount: 0 });
    else waiting?.reject(errorFrom(failure));
  }

  #end(worker: Worker, failure: ThreadFailure): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(errorFrom(failure));
    this.#waiting.clear();
  }
}

/** An SQLite error with its result code, or a misconfiguration. */
function errorFrom({ option, message, ...codes }: ThreadFailure): Error {
  if (option !== undefined) return new ConfigurationError(option, message);
  return Object.assign(new Error(message), { name: 'SqliteError', ...codes });
}

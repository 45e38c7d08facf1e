/**
 * Sends prebuilt requests over raw sockets, in its own process: a connection sends its next request once the response to the
 * last one is complete. It parses one response and counts the bytes of all others, so that it needs only a fraction of the
 * processor time of the measured server.
 */

import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { answerQuestions } from '@payment-service/durability';

export interface LoadQuestion {
  readonly port: number;
  readonly requests: readonly string[];
  readonly connections: number;
  /** Not counted. */
  readonly warmUpMs: number;
  readonly ms: number;
}

export interface Load {
  /** All responses, including those of the warm-up and the last ones. */
  readonly answered: number;
  readonly perSecond: number;
  /** The share of its event loop's turns in which a response had arrived. */
  readonly busy: number;
}

const STATUS = Buffer.from('HTTP/1.1 200 ');

/** One connection. Rejects on every status but 200, and on a length that differs from the first answer's. */
class Connection {
  readonly socket: Socket;
  readonly #length: number;
  #received = 0;
  #onAnswer: () => void = () => {};
  #onError: (error: Error) => void = () => {};

  constructor(port: number, length: number) {
    this.#length = length;
    const onread = {
      buffer: Buffer.allocUnsafe(4096),
      callback: (bytes: number, buffer: Uint8Array) => this.#read(bytes, buffer),
    };
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    this.socket.on('error', (error) => this.#onError(error));
    this.socket.on('close', () => this.#onError(new Error('The server closed a connection.')));
  }

  /** Calls back for every response until the callback returns no next request. */
  run(next: () => Buffer | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onError = reject;
      this.#onAnswer = () => {
        const request = next();
        if (request === undefined) resolve();
        else this.socket.write(request);
      };
      this.#onAnswer();
    });
  }

  #read(bytes: number, buffer: Uint8Array): boolean {
    if (this.#received === 0 && STATUS.compare(buffer, 0, STATUS.length) !== 0)
      this.#onError(new Error(`Answered ${Buffer.from(buffer).toString('latin1', 0, bytes)}`));
    this.#received += bytes;
    if (this.#received > this.#length) this.#onError(new Error('An answer is longer than the first one.'));
    if (this.#received < this.#length) return true;
    this.#received = 0;
    this.#onAnswer();
    return true;
  }
}

answerQuestions(async (question: LoadQuestion): Promise<Load> => {
  const { port, connections } = question;
  const requests = question.requests.map((request) => Buffer.from(request, 'latin1'));
  const [first = Buffer.alloc(0)] = requests;
  const length = await answerLength(port, first);
  const open = Array.from({ length: connections }, () => new Connection(port, length));
  let answered = 1; // The parsed response.
  let isOver = false;
  let sent = 0;
  const turns = { all: 0, busy: 0, answered: 0 };
  // It never sleeps. Otherwise the server would pay for waking it: a slow server for each response, a fast one for few.
  const stayAwake = (): void => {
    turns.all++;
    if (answered !== turns.answered) turns.busy++;
    turns.answered = answered;
    if (!isOver) setImmediate(stayAwake);
  };
  const runs = open.map((connection) => {
    let isFirst = true;
    return connection.run(() => {
      if (!isFirst) answered++;
      isFirst = false;
      return isOver ? undefined : requests[sent++ % requests.length];
    });
  });
  const all = Promise.all(runs);
  stayAwake();
  await Promise.race([wait(question.warmUpMs), all]);
  const [counted, started] = [answered, performance.now()];
  await Promise.race([wait(question.ms), all]);
  const [end, elapsedMs] = [answered, performance.now() - started];
  isOver = true;
  await all;
  for (const { socket } of open) socket.removeAllListeners('close').destroy();
  return {
    answered,
    perSecond: ((end - counted) / elapsedMs) * 1000,
    busy: turns.busy / turns.all,
  };
});

/** The size of one whole response in bytes. All responses of a server are equally long. */
function answerLength(port: number, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
      if (length === undefined) return reject(new Error(`An answer without a length: ${text}`));
      if (text.length < end + 4 + Number(length)) return;
      socket.destroy();
      resolve(text.length);
    });
    socket.write(request);
  });
}

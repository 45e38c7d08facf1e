import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { hangGuard } from './hang-guard.ts';
import { type HttpAnswer, takeHttpAnswer } from './http-answer.ts';

interface AnswerOptions {
  /** The method of the request. */
  readonly to?: string | undefined;
  readonly interim?: boolean;
}

/** A client on a raw socket: writes exact bytes, and hangs up when told to. */
export class Connection {
  readonly #socket: Socket;
  readonly #patienceMs: number | undefined;
  readonly #closed: Promise<void>;
  #received: Buffer = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #isClosed = false;

  private constructor(socket: Socket, patienceMs: number | undefined) {
    this.#socket = socket;
    this.#patienceMs = patienceMs;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A server that rejects an upload may reset the connection; only the response before that counts.
    socket.on('error', () => undefined);
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** @param patienceMs how long the client waits for a response, and for the server to close. */
  static async open(port: number, patienceMs?: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1' });
    await hangGuard('a connection', once(socket, 'connect'));
    return new Connection(socket, patienceMs);
  }

  /** Each part is sent separately. */
  async write(...parts: readonly (string | Uint8Array)[]): Promise<void> {
    for (const part of parts) {
      await new Promise<void>((resolve) => this.#socket.write(part, () => resolve()));
    }
  }

  /** Writes the same part repeatedly, until the server has closed the connection or `maxBytes` are written. */
  async writeUntilClosed(part: string, maxBytes: number): Promise<void> {
    for (let written = 0; written < maxBytes && !this.#isClosed; written += part.length) {
      // A write on a socket that was reset calls back with an error, and then the socket closes.
      await this.write(part);
    }
  }

  /** The next response. Interim responses (1xx) are skipped unless requested. */
  async answer({ to = 'POST', interim = false }: AnswerOptions = {}): Promise<HttpAnswer> {
    for (;;) {
      const taken = takeHttpAnswer(this.#received, to === 'HEAD');
      if (taken !== undefined) {
        this.#received = taken.rest;
        if (interim || taken.answer.status >= 200) return taken.answer;
      } else if (this.#isClosed) {
        throw new Error('The server closed the connection without an answer.');
      } else {
        await hangGuard(
          'an answer',
          new Promise<void>((resolve) => {
            this.#wake = resolve;
          }),
          this.#patienceMs,
        );
      }
    }
  }

  /** Received bytes that are not part of a response. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  /** Ends the sending side and continues to listen. */
  finish(): void {
    this.#socket.end();
  }

  hangUp(): void {
    this.#socket.destroy();
  }

  /** Hangs up with a TCP reset, like a killed process. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Resolves when the server has closed the connection. */
  async closedByServer(): Promise<void> {
    await hangGuard('the server to close the connection', this.#closed, this.#patienceMs);
  }
}

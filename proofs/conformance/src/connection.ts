import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { hangGuard } from './hang-guard.ts';
import { type HttpAnswer, takeHttpAnswer } from './http-answer.ts';

/** One request, in one or several writes. */
export type Parts = readonly (string | Uint8Array)[];

/** The sender of every request: writes exact bytes on a raw socket, and hangs up when told to. */
export class Connection {
  readonly #socket: Socket;
  readonly #closed: Promise<unknown>;
  #received = '';
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    // A server that rejects an upload may reset the connection; only the response before that counts.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#wake());
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1' });
    await hangGuard('a connection', once(socket, 'connect'));
    return new Connection(socket);
  }

  /** Each part is sent separately. Strings are latin1. */
  async write(...parts: Parts): Promise<void> {
    for (const part of parts) {
      const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
      await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
    }
  }

  /** Writes the same part repeatedly, until the server has closed the connection or `maxBytes` are written. */
  async writeUntilClosed(part: string, maxBytes: number): Promise<void> {
    for (let written = 0; written < maxBytes && !this.#socket.closed; written += part.length) {
      // A write on a socket that was reset calls back with an error, and then the socket closes.
      await this.write(part);
    }
  }

  /** The next response to a request of this method. Interim responses (1xx) are skipped. */
  async answer(method = 'POST'): Promise<HttpAnswer> {
    for (;;) {
      const { closed: isClosed } = this.#socket;
      const taken = takeHttpAnswer(this.#received, { isHead: method === 'HEAD', isClosed });
      if (taken !== undefined) {
        this.#received = taken.rest;
        if (taken.answer.status >= 200) return taken.answer;
      } else if (isClosed) {
        throw new Error('The server closed the connection without an answer.');
      } else {
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        await hangGuard('an answer', woken);
      }
    }
  }

  /** Sends one request and waits for its response. */
  async ask(...parts: Parts): Promise<HttpAnswer> {
    await this.write(...parts);
    return this.answer(methodOf(parts));
  }

  /** Received characters that are not part of a response. */
  get unread(): string {
    return this.#received;
  }

  /** Ends the sending side and continues to listen. */
  finish(): void {
    this.#socket.end();
  }

  hangUp(): void {
    this.#socket.destroy();
  }

  /** Resolves when the server has closed the connection. */
  async closedByServer(): Promise<void> {
    await hangGuard('the server to close the connection', this.#closed);
  }
}

export function methodOf([first = '']: Parts): string | undefined {
  return /^\w*/.exec(Buffer.from(first).toString('latin1'))?.[0];
}

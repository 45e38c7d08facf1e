import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Connection } from './connection.ts';
import { hangGuard } from './hang-guard.ts';
import { type AnswerRecord, answerRecord } from './outcome.ts';

/** Where a scenario runs: a listening server, clients, and a gate where a handler can wait. */
export class Stage {
  readonly answers: AnswerRecord[] = [];
  readonly #server: Server;
  readonly #patienceMs: number | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #clients: Connection[] = [];
  readonly #gate = Promise.withResolvers<void>();
  readonly #requestArrived = Promise.withResolvers<void>();
  readonly #handlerCalled = Promise.withResolvers<void>();

  private constructor(server: Server, patienceMs: number | undefined) {
    this.#server = server;
    this.#patienceMs = patienceMs;
    server.once('request', () => this.#requestArrived.resolve());
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async open(server: Server, patienceMs?: number): Promise<Stage> {
    const stage = new Stage(server, patienceMs);
    await hangGuard('the server to listen', once(server.listen(0, '127.0.0.1'), 'listening'));
    return stage;
  }

  async connect(): Promise<Connection> {
    const client = await Connection.open((this.#server.address() as AddressInfo).port, this.#patienceMs);
    this.#clients.push(client);
    return client;
  }

  /** Sends one request and records the response. */
  async ask(request: Uint8Array | readonly Uint8Array[], client?: Connection): Promise<AnswerRecord> {
    const connection = client ?? (await this.connect());
    const parts = request instanceof Uint8Array ? [request] : request;
    await connection.write(...parts);
    const to = /^\w*/.exec(Buffer.from(parts[0] ?? '').toString('latin1'))?.[0];
    return this.record(await connection.answer({ to }));
  }

  record(answer: Parameters<typeof answerRecord>[0]): AnswerRecord {
    const record = answerRecord(answer);
    this.answers.push(record);
    return record;
  }

  /** Resolves when the head of a request has reached the application. */
  async requestArrived(): Promise<void> {
    await hangGuard('the request to reach the application', this.#requestArrived.promise);
  }

  /** For handlers: waits until the scenario opens the gate. */
  async waitAtGate(): Promise<void> {
    this.#handlerCalled.resolve();
    await this.#gate.promise;
  }

  /** Resolves when a handler is waiting at the gate. */
  async handlerCalled(): Promise<void> {
    await hangGuard('the handler to be called', this.#handlerCalled.promise);
  }

  openGate(): void {
    this.#gate.resolve();
  }

  /** Resolves when the server has noticed that every client is gone. */
  async serverSawHangUps(): Promise<void> {
    // Not the `once` of node:events, which rejects if a connection was reset.
    const closings = [...this.#sockets].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    await hangGuard('the server to notice that the client is gone', Promise.all(closings));
  }

  async close(): Promise<void> {
    this.openGate();
    for (const client of this.#clients) client.hangUp();
    this.#server.closeAllConnections();
    await hangGuard('the server to close', new Promise((resolve) => this.#server.close(resolve)));
  }
}

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Application } from './application.ts';
import { Connection, type Parts } from './connection.ts';
import { hangGuard } from './hang-guard.ts';
import { type AnswerRecord, answerRecord } from './outcome.ts';

/** Where a scenario runs: a listening server, clients, and a gate where a handler can wait. */
export class Stage {
  readonly answers: AnswerRecord[] = [];
  readonly #server: Server;
  readonly #shutDown: NonNullable<Application['close']>;
  #closing: Promise<unknown> | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #clients: Connection[] = [];
  readonly #gate = Promise.withResolvers<void>();
  readonly #requestArrived = Promise.withResolvers<void>();
  readonly #handlerCalled = Promise.withResolvers<void>();

  private constructor(server: Server, close: Application['close']) {
    this.#server = server;
    this.#shutDown = close ?? (() => promisify(server.close.bind(server))());
    server.once('request', () => this.#requestArrived.resolve());
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async open(server: Server, close?: Application['close']): Promise<Stage> {
    const stage = new Stage(server, close);
    await hangGuard('the server to listen', once(server.listen(0, '127.0.0.1'), 'listening'));
    return stage;
  }

  async connect(): Promise<Connection> {
    const client = await Connection.open((this.#server.address() as AddressInfo).port);
    this.#clients.push(client);
    return client;
  }

  /** Sends one request and records the response. */
  async ask(request: Uint8Array | Parts, client?: Connection): Promise<void> {
    const parts = request instanceof Uint8Array ? [request] : request;
    this.record(await (client ?? (await this.connect())).ask(...parts));
  }

  record(answer: Parameters<typeof answerRecord>[0]): void {
    this.answers.push(answerRecord(answer));
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

  /** Shuts down as on SIGTERM, and resolves when new connections are refused. Idle connections are kept open for a minute. */
  async shutDown(): Promise<void> {
    this.#server.keepAliveTimeout = 60_000;
    const { port } = this.#server.address() as AddressInfo;
    this.#closing = this.#shutDown(this.#server);
    for (let isRefused = false; !isRefused; )
      await Connection.open(port).then(
        (client) => client.hangUp(),
        () => {
          isRefused = true;
        },
      );
  }

  /** Resolves when the server that shuts down has ended its last connection. */
  async closed(): Promise<void> {
    await hangGuard('the server to end its last connection', this.#closing ?? Promise.resolve());
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
    const closed = this.#closing ?? new Promise((resolve) => this.#server.close(resolve));
    await hangGuard('the server to close', closed);
  }
}

import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { listening } from './serve.ts';

/**
 * A TCP address that leads to whichever server it is pointed at: for the merchant's programs the one address of the
 * primary, as a load balancer gives it; between two servers the network, which can stall.
 */
export class Link {
  readonly port: number;
  readonly #server: Server;
  #target: number | undefined;
  /** The two ends of each connection; a client that came while nothing passes has no other end yet. */
  readonly #pairs = new Map<Socket, Socket | undefined>();
  #isHeld = false;

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    this.#target = target;
    server.on('connection', (client) => this.#connect(client));
  }

  static async open(target: number): Promise<Link> {
    const server = createServer();
    return new Link(server, await listening(server), target);
  }

  /** From now on nothing arrives on either side, and no connection ends: packets are lost. */
  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /**
   * What was sent meanwhile arrives, on the connections that have not ended.
   *
   * @returns how many that are.
   */
  release(): number {
    this.#isHeld = false;
    const held = [...this.#pairs];
    for (const [client, upstream] of held) {
      if (upstream === undefined) this.#join(client);
      else client.pipe(upstream).pipe(client);
    }
    return held.length;
  }

  /** Ends every connection, with what is under way on it, and refuses others until `pointAt()`. */
  cut(): void {
    this.#target = undefined;
    for (const socket of this.#sockets) socket.destroy();
    this.#pairs.clear();
    this.#isHeld = false;
  }

  pointAt(port: number): void {
    this.#target = port;
  }

  /** Ends every connection, and leads to the same server again. */
  reconnect(): void {
    const target = this.#target;
    this.cut();
    this.#target = target;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Both ends of every connection. */
  get #sockets(): readonly Socket[] {
    return [...this.#pairs].flat().filter((socket) => socket !== undefined);
  }

  #connect(client: Socket): void {
    if (this.#target === undefined) {
      client.destroy();
      return;
    }
    prepare(client);
    this.#pairs.set(client, undefined);
    client.on('close', () => this.#pairs.delete(client));
    if (!this.#isHeld) this.#join(client);
  }

  #join(client: Socket): void {
    const upstream = createConnection({ port: this.#target ?? 0, host: '127.0.0.1' });
    prepare(upstream);
    this.#pairs.set(client, upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  }
}

function prepare(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
}

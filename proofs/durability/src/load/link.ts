import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { listening } from './serve.ts';

/**
 * A TCP address that leads to the server it is pointed at. For the merchant's programs it is the one address of the primary, as
 * a load balancer provides it; between two servers it is the network, which can stall.
 */
export class Link {
  readonly port: number;
  readonly #server: Server;
  #target: number | undefined;
  /** The two ends of each connection; a client that connects during a stall has no other end yet. */
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

  /** From now on nothing arrives on either side and no connection ends, as if packets were lost. */
  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** Delivers what was sent meanwhile, on the connections that have not ended. */
  release(): void {
    this.#isHeld = false;
    for (const [client, upstream] of [...this.#pairs])
      if (upstream === undefined) this.#join(client);
      else client.pipe(upstream).pipe(client);
  }

  /** Ends every connection, with everything under way on it, and refuses new ones until `pointAt()`. */
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

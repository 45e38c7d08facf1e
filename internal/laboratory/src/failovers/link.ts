import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP address that leads to whichever server it is pointed at: for the merchant's programs the one address of the
 * primary, as a load balancer gives it; between two servers the network, which can stall.
 */
export class Link {
  readonly port: number;
  readonly #server: Server;
  /** Both ends of every connection. */
  readonly #sockets = new Set<Socket>();
  #target: number | undefined;
  #isHeld = false;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#connect(client));
  }

  static async open(target: number): Promise<Link> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const link = new Link(server);
    link.#target = target;
    return link;
  }

  /** From now on nothing arrives on either side, and no connection ends: packets are lost. */
  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** Ends every connection, with what is under way on it, and refuses others until `pointAt()`. */
  cut(): void {
    this.#target = undefined;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    this.#isHeld = false;
  }

  pointAt(port: number): void {
    this.#target = port;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(client: Socket): void {
    if (this.#target === undefined) {
      client.destroy();
      return;
    }
    this.#add(client);
    if (this.#isHeld) return;
    const upstream = createConnection({ port: this.#target, host: '127.0.0.1' });
    this.#add(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream);
    upstream.pipe(client);
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

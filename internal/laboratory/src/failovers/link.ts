import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP address that leads to whichever server it is pointed at: for the merchant's programs the one address of the
 * primary, as a load balancer gives it; for a standby the network between the two, which can stall.
 */
export class Link {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Map<Socket, Socket>();
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

  /** From now on, nothing that the server says arrives. */
  hold(): void {
    this.#isHeld = true;
    for (const [client, upstream] of this.#pairs) upstream.unpipe(client).pause();
  }

  /** Ends every connection, with what is under way on it, and refuses others until `pointAt()`. */
  cut(): void {
    this.#target = undefined;
    for (const [client, upstream] of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
    this.#pairs.clear();
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
    client.on('error', () => undefined);
    if (this.#target === undefined || this.#isHeld) {
      client.destroy();
      return;
    }
    const upstream = createConnection({ port: this.#target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    upstream.on('error', () => undefined);
    this.#pairs.set(client, upstream);
    const end = (): void => {
      this.#pairs.delete(client);
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
    client.pipe(upstream);
    upstream.pipe(client);
  }
}

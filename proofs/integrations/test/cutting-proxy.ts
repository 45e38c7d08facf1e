import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Which message to the server ends its connection, and whether the server gets it. */
export interface Cut {
  readonly isAt: (text: string) => boolean;
  /** `before`: the server never gets it. `after`: it answers, and the answer never arrives. */
  readonly moment: 'before' | 'after';
}

/** A proxy between clients and PostgreSQL that ends a connection at a message, as a failover or a balancer does. */
export interface CuttingProxy {
  readonly url: string;
  /** How many messages that the server answers were sent. */
  count(): number;
  /** Ends the connection of the first message that is meant, once. */
  cut(next: Cut): void;
  /** Every connection that is open now ends when its client uses it again: until then, it looks sound. */
  forget(): void;
  end(): Promise<void>;
}

export async function cuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const url = new URL(serverUrl);
  const [host, port] = [url.hostname, Number(url.port)];
  const open = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  let next: Cut | undefined;
  let count = 0;
  const server = createServer((near) => {
    const far = connect(port, host);
    open.add(near);
    let unread = Buffer.alloc(0);
    let hasStarted = false;
    let isCut = false;
    const end = (): void => {
      open.delete(near);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('close', end);
      socket.on('error', end);
    }
    near.on('data', (chunk) => {
      if (forgotten.has(near)) return near.resetAndDestroy();
      unread = Buffer.concat([unread, chunk]);
      // The first message has no type.
      for (let head = hasStarted ? 1 : 0; unread.length >= head + 4; head = 1) {
        const length = head + unread.readInt32BE(head);
        if (unread.length < length) break;
        const type = head === 0 ? '' : String.fromCharCode(unread[0] ?? 0);
        const text = unread.subarray(0, length).toString('latin1');
        unread = unread.subarray(length);
        hasStarted = true;
        // Query, and Parse or Sync of the other protocol.
        if (type === 'Q' || type === 'S') count += 1;
        if (next === undefined || !'QPS'.includes(type || ' ') || !next.isAt(text)) continue;
        const { moment } = next;
        next = undefined;
        if (moment === 'before') return near.resetAndDestroy();
        isCut = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => (isCut ? near.resetAndDestroy() : near.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    count: () => count,
    cut: (given) => {
      next = given;
    },
    forget() {
      for (const socket of open) forgotten.add(socket);
    },
    async end() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Between a client and a server, whose address it gives. */
async function proxy(serverUrl: string, join: (near: Socket, far: Socket) => void): Promise<string> {
  const url = new URL(serverUrl);
  const [host, port] = [url.hostname, Number(url.port)];
  const server = createServer((near) => {
    const far = connect(port, host);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true);
      // A connection that one side gives up is not kept by the other.
      one.on('close', () => other.destroy());
      one.on('error', () => other.destroy());
    }
    join(near, far);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return url.href;
}

/**
 * Loses the client and the server for each other without a word, as a broken network does: after `silence()`, nothing
 * passes over the connections that are open, and later ones work. `end()` ends them, as a network does that comes back.
 */
export async function silentProxy(
  serverUrl: string,
): Promise<{ readonly url: string; silence(): void; end(): void }> {
  const [open, all] = [new Set<Socket>(), new Set<Socket>()];
  const url = await proxy(serverUrl, (near, far) => {
    for (const socket of [near, far]) {
      open.add(socket);
      all.add(socket);
    }
    near.on('data', (chunk) => open.has(near) && far.write(chunk));
    far.on('data', (chunk) => open.has(far) && near.write(chunk));
  });
  const end = (): void => {
    for (const socket of all) socket.destroy();
  };
  return { url, silence: () => open.clear(), end };
}

/** ReadyForQuery, outside a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
/** ErrorResponse with SQLSTATE 57P01. */
const FIELDS = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
const FAREWELL = Buffer.from([0x45, 0, 0, 0, FIELDS.length + 4, ...Buffer.from(FIELDS)]);

/** Every connection is completed, and in the very packet that says so the server reports that it ends. */
export function dyingServer(serverUrl: string): Promise<string> {
  return proxy(serverUrl, (near, far) => {
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      if (!chunk.subarray(-READY.length).equals(READY)) near.write(chunk);
      else near.end(Buffer.concat([chunk, FAREWELL]));
    });
  });
}

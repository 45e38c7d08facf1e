import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a proxy between a client and a server, and returns its address. */
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
      // A connection that one side abandons is not kept by the other.
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
 * Silently disconnects the client and the server, like a broken network: after `silence()`, nothing passes over the open
 * connections, while later ones work. `end()` ends them, like a network that is restored.
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

/** Every connection is completed, and in the same packet the server reports that it is ending. */
export function dyingServer(serverUrl: string): Promise<string> {
  return proxy(serverUrl, (near, far) => {
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      if (!chunk.subarray(-READY.length).equals(READY)) near.write(chunk);
      else near.end(Buffer.concat([chunk, FAREWELL]));
    });
  });
}

/** BackendKeyData: the process of the server, and the key that cancels its statements. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

/**
 * Reports its own process id instead of the server's, as poolers do. `sent` is what the client sent.
 *
 * @param step the distance to the server's id.
 */
export async function poolerOf(
  serverUrl: string,
  step = 1_000_000,
): Promise<{ readonly url: string; sent(): string }> {
  const sent: Buffer[] = [];
  const url = await proxy(serverUrl, (near, far) => {
    near.on('data', (chunk) => {
      sent.push(chunk);
      far.write(chunk);
    });
    let isNamed = false;
    far.on('data', (chunk) => {
      const at = isNamed ? -1 : chunk.indexOf(KEY_DATA);
      if (at >= 0) {
        isNamed = true;
        chunk.writeInt32BE(chunk.readInt32BE(at + KEY_DATA.length) + step, at + KEY_DATA.length);
      }
      near.write(chunk);
    });
  });
  return { url, sent: () => Buffer.concat(sent).toString('latin1') };
}

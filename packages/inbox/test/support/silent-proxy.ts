import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Between a client and a server, and able to lose them for each other without a word, as a broken network does. */
export interface SilentProxy {
  readonly url: string;
  /** From now on nothing passes over the connections that are open; later ones work. */
  silence(): void;
  /** Ends all connections, as a network does that comes back: nobody waits any more for those that were silent. */
  end(): void;
}

export async function silentProxy(serverUrl: string): Promise<SilentProxy> {
  const target = new URL(serverUrl);
  const open = new Set<Socket>();
  const all = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      all.add(one);
      one.setNoDelay(true);
      one.on('data', (chunk) => {
        if (open.has(one)) other.write(chunk);
      });
      // A connection that its owner gives up is not kept by the other side for ever.
      one.on('close', () => other.destroy());
      one.on('error', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const end = (): void => {
    for (const socket of all) socket.destroy();
  };
  return { url: url.href, silence: () => open.clear(), end };
}

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Finds a port below those that the system assigns to outgoing connections: none of them can take the port of a killed
 * server before it starts again.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 30_000);
    if (await isFree(port)) return port;
  }
  throw new Error('No port between 20000 and 30000 is free on 127.0.0.1.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

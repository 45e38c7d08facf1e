import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** ReadyForQuery, outside a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/**
 * In front of a server, whose address it gives: every connection comes about, and in the very packet that says so the
 * server reports that it ends.
 */
export async function dyingServer(serverUrl: string): Promise<string> {
  const target = new URL(serverUrl);
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      if (!chunk.subarray(-READY.length).equals(READY)) near.write(chunk);
      else near.end(Buffer.concat([chunk, farewell()]));
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => proxy.close(() => resolve())));
  const url = new URL(serverUrl);
  url.port = String((proxy.address() as AddressInfo).port);
  return url.href;
}

/** ErrorResponse with SQLSTATE 57P01. */
function farewell(): Buffer {
  const fields = Buffer.from(
    'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0',
  );
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

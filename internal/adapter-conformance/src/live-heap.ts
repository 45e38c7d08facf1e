import { expect, test } from 'vitest';
import { Connection } from './connection.ts';
import { HostileHost } from './hostile/hostile-host.ts';
import { chunkedCallbackRequest, paddedBody } from './http-request.ts';

const SOCKETS = 20;
const MAX_GROWTH_BYTES = 5_000_000;
/** 1.3 million pieces, which some frameworks pass through several promises each. */
const GENEROUS_MS = 120_000;

/**
 * Threat A30: bodies of 64 KiB in one-byte pieces on twenty sockets, all unfinished. `program` mounts the adapter with
 * `serveForHeapTest()`.
 */
export function testLiveHeap(name: string, program: URL): void {
  test(`${name}: threat A30: twenty unfinished bodies in one-byte pieces take less than 5 MB of live heap, and then verify`, {
    timeout: GENEROUS_MS,
  }, async () => {
    const { growthBytes, statuses } = await liveHeap(program);
    expect(growthBytes).toBeLessThan(MAX_GROWTH_BYTES);
    expect(statuses).toEqual(Array.from({ length: SOCKETS }, () => 200));
  });
}

/** How much live heap the unfinished bodies use, and the answers when they are finished. */
export async function liveHeap(
  program: URL,
): Promise<{ readonly growthBytes: number; readonly statuses: readonly number[] }> {
  const host = HostileHost.start({ name: 'heap', program }, true);
  const clients: Connection[] = [];
  const writeEach = (bytes: Buffer): Promise<unknown> =>
    Promise.all(clients.map((client) => client.write(bytes)));
  /** The live heap once the server has read and processed this many bytes. */
  const settled = async (bytesRead: number): Promise<number> => {
    for (let last = Number.POSITIVE_INFINITY; ; ) {
      const report = await host.report('heap');
      if (report.bytesRead >= bytesRead && report.heapBytes > last - 500_000) return report.heapBytes;
      last = report.heapBytes;
    }
  };
  try {
    const { ports } = await host.report();
    const [head = Buffer.of(), ...chunks] = chunkedCallbackRequest(
      [...Buffer.from(paddedBody(64 * 1024))].map((byte) => Uint8Array.of(byte)),
    );
    const pieces = Buffer.concat(chunks.slice(0, -2));
    for (let count = 0; count < SOCKETS; count++) clients.push(await Connection.open(ports.http1));
    await writeEach(head);
    const before = await settled(SOCKETS * head.length);
    await writeEach(pieces);
    const during = await settled(SOCKETS * (head.length + pieces.length));
    await writeEach(Buffer.concat(chunks.slice(-2)));
    const answers = await Promise.all(clients.map((client) => client.answer()));
    return { growthBytes: during - before, statuses: answers.map(({ status }) => status) };
  } finally {
    for (const client of clients) client.hangUp();
    await host.end();
  }
}

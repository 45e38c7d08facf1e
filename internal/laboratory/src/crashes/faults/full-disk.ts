import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { monotonicMs } from '../../measure/measure.ts';
import { judge } from '../../measure/results.ts';
import { type Fault, type FaultParts, unanswered, type Window } from './fault.ts';
import { volume } from './volume.ts';

const PIECE = Buffer.alloc(64 * 1024);
const FULL_MS = 5000;
/** As long as the database may take to meet the full disk: it has some room in files that exist. */
const MET_MS = 60_000;

/** The volume of the database and the spool is filled to the last byte, and later it has room again. */
export async function fullDisk({ test }: FaultParts): Promise<Fault> {
  const windows: Window[] = [];
  let refused = 0;
  return {
    times: 3,
    async strike() {
      const ballast = join(volume(), 'ballast');
      const from = monotonicMs();
      try {
        fill(ballast);
        for (let code: unknown; code !== 'full'; await wait(20)) {
          code = await test.fillUp();
          // The server may have ended because it could not write its log.
          if (code === 'full' || code === 'gone') refused += 1;
          if (code === 'gone' || monotonicMs() - from > MET_MS) break;
        }
        await wait(FULL_MS);
      } finally {
        rmSync(ballast, { force: true });
        windows.push({ from, to: monotonicMs() });
      }
      await test.revive();
    },
    happened: async (seen) => [
      judge('times that the database met the full disk', 'times', refused, 'at least', 3),
      judge(
        'requests without an answer while the disk was full',
        'requests',
        unanswered(seen, windows),
        'at least',
        3,
      ),
    ],
  };
}

/** To the last byte: pieces that no longer fit are halved. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = PIECE.length; size > 0; ) {
      try {
        writeSync(file, PIECE, 0, size);
      } catch (error) {
        if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ENOSPC') throw error;
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

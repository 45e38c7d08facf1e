import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { monotonicMs } from '../../measure/measure.ts';
import { judge } from '../../measure/results.ts';
import { type Fault, type FaultParts, unanswered, type Window } from './fault.ts';
import { volume } from './volume.ts';

const PIECE = Buffer.alloc(64 * 1024);
const FULL_MS = 5000;
/** The longest that the database may take to reach the full disk: its existing files have some room left. */
const MET_MS = 60_000;
const REVIVE_MS = 10_000;
const DISK_FULL = '53100';
const SQLITE_FULL = 13;

/** The volume of the database and the spool is filled to the last byte, and later freed. */
export async function fullDisk({ test }: FaultParts): Promise<Fault> {
  const windows: Window[] = [];
  let refused = 0;
  /** Writes filler rows. */
  const fillUp = async (): Promise<'room' | 'full' | 'gone'> => {
    try {
      await test.read('create table if not exists filler (content text)');
      await test.read(`insert into filler values ('${randomBytes(500_000).toString('hex')}')`);
      return 'room';
    } catch (error) {
      const { code, errcode } = Object(error);
      if (code === DISK_FULL || errcode === SQLITE_FULL) return 'full';
      return test.kill === undefined ? 'room' : 'gone';
    }
  };
  /** Removes the filler rows, and restarts the server if it has ended. */
  const revive = async (): Promise<void> => {
    const end = performance.now() + REVIVE_MS;
    const isDropped = (): Promise<boolean> =>
      test.read('drop table if exists filler').then(
        () => true,
        () => false,
      );
    while (!(await isDropped())) {
      await wait(200);
      if (performance.now() < end) continue;
      await test.kill?.('everything');
      await test.restart();
    }
  };
  return {
    times: 3,
    async strike() {
      if (volume === undefined) throw new Error('There is no volume of its own.');
      const ballast = join(volume, 'ballast');
      const from = monotonicMs();
      try {
        fill(ballast);
        for (let code: unknown; code !== 'full'; await wait(20)) {
          code = await fillUp();
          // The server may have ended because it could not write its log.
          if (code === 'full' || code === 'gone') refused += 1;
          if (code === 'gone' || monotonicMs() - from > MET_MS) break;
        }
        await wait(FULL_MS);
      } finally {
        rmSync(ballast, { force: true });
        windows.push({ from, to: monotonicMs() });
      }
      await revive();
    },
    happened: async (seen) => {
      const silent = unanswered(seen, windows);
      return [
        judge('times that the database met the full disk', 'times', refused, 'at least', 3),
        judge('requests without an answer while the disk was full', 'requests', silent, 'at least', 3),
      ];
    },
  };
}

/** To the last byte: chunks that no longer fit are halved. */
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

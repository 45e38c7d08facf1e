import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { monotonicMs } from '../measure/measure.ts';
import { judge } from '../measure/results.ts';
import { until } from '../measure/until.ts';
import { type Fault, type FaultParts, unanswered, type Window } from './fault.ts';
import { volume } from './volume.ts';

const FULL_MS = 5000;
/** The longest that the database may take to reach the full disk: its existing files have some room left. */
const MET = { withinMs: 60_000, everyMs: 20 };
/** How long a server may take to accept writes again before it is restarted. */
const REVIVE_MS = 10_000;
const DISK_FULL = '53100';
const SQLITE_FULL = 13;

/** The volume of the database and the spool is filled to the last byte, and later freed. */
export async function fullDisk({ topology: { database, read, strike, heal } }: FaultParts): Promise<Fault> {
  const windows: Window[] = [];
  let refused = 0;
  /** Writes filler rows. @returns true if the disk is full, or if the server has ended because it could not write its log. */
  const meets = async (): Promise<boolean> => {
    try {
      await read('create table if not exists filler (content text)');
      await read(`insert into filler values ('${randomBytes(500_000).toString('hex')}')`);
      return false;
    } catch (error) {
      const { code, errcode } = Object(error);
      return code === DISK_FULL || errcode === SQLITE_FULL || database.store === 'postgres';
    }
  };
  /** Removes the filler rows, and restarts the server if it has ended. */
  const revive = async (): Promise<void> => {
    const end = performance.now() + REVIVE_MS;
    await until('the database to accept writes again', async () => {
      try {
        await read('drop table if exists filler');
        return true;
      } catch {
        if (performance.now() < end || database.store === 'sqlite') return false;
        await strike('everything');
        await heal();
        return false;
      }
    });
  };
  return {
    times: 3,
    async strike() {
      if (volume === undefined) throw new Error('There is no volume of its own.');
      const ballast = join(volume, 'ballast');
      const from = monotonicMs();
      try {
        // Ends when the last byte is taken.
        spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']);
        await until('the database to meet the full disk', meets, MET);
        refused += 1;
        await wait(FULL_MS);
      } finally {
        rmSync(ballast, { force: true });
        windows.push({ from, to: monotonicMs() });
      }
      await revive();
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

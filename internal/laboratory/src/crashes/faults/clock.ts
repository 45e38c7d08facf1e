import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judge } from '../../measure/results.ts';
import type { Fault, FaultParts } from './fault.ts';

const HOUR_MS = 3_600_000;
/** How far the clock of the database is ahead of the machine's after each step. */
const STEPS = [3, -2, 5, 0];
const TURN_MS = 50;
const MAX_TURNS = 600;

/**
 * The clock of the database steps by hours, forward and back. On PostgreSQL its function is found before the server's own; on
 * SQLite, whose clock is that of each process, the programs replace the function when they open a file.
 */
export async function steppingClock({ test, folder }: FaultParts): Promise<Fault> {
  const { database } = test;
  const file = join(folder, 'clock');
  const set = async (hours: number): Promise<void> => {
    writeFileSync(file, String(hours * HOUR_MS));
    await test.setClock?.(hours * HOUR_MS);
  };
  const kept = (): Promise<number> =>
    test.keptAt().then(
      ({ length }) => length,
      () => 0,
    );
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < MAX_TURNS && !(await holds()); turn++) await wait(TURN_MS);
  };
  const keptAfter = (count: number): Promise<void> => until(async () => (await kept()) > count);
  /** Only a step back from a time that a worker has noted is noticed. */
  const noted = (hours: number): Promise<void> =>
    until(async () => {
      const at = await test.seenAt().catch(() => Number.NaN);
      return Math.abs(at - Date.now() - hours * HOUR_MS) < HOUR_MS / 2;
    });
  await set(0);
  return {
    ...(database.store === 'postgres'
      ? {
          database: {
            ...database,
            url: `${database.url}?options=${encodeURIComponent('-c search_path=stepped,pg_catalog,public')}`,
          },
        }
      : {
          env: {
            NODE_OPTIONS: `--import=${new URL('stepped-clock.ts', import.meta.url).href}`,
            CRASH_TEST_CLOCK: file,
          },
        }),
    times: STEPS.length,
    async strike(at) {
      // So that a callback is kept at each time, whatever the kills and the machine do to the load.
      if (at === 0) await keptAfter(0);
      const hours = STEPS[at] ?? 0;
      await set(hours);
      await keptAfter(await kept());
      await noted(hours);
    },
    async happened() {
      const times = await test.keptAt();
      const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      const forward = steps.filter((ms) => ms > HOUR_MS).length;
      const back = steps.filter((ms) => ms < -HOUR_MS).length;
      return [
        judge('steps of the clock by hours forward', 'steps', forward, 'at least', 2),
        judge('steps of the clock by hours back', 'steps', back, 'at least', 2),
      ];
    },
  };
}

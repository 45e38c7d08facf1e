import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judge } from '../../measure/results.ts';
import type { Fault, FaultParts } from './fault.ts';

const HOUR_MS = 3_600_000;
/** How many hours the database's clock is ahead of the machine's after each step. */
const STEPS = [3, -2, 5, 0];
const TURN_MS = 50;
const MAX_TURNS = 600;

/** Connections whose search_path begins with its schema find this function before the server's own. */
const CLOCK = `create schema if not exists stepped;
  create table if not exists stepped.clock (ms bigint not null);
  insert into stepped.clock select 0 where not exists (select from stepped.clock);
  create or replace function stepped.statement_timestamp() returns timestamptz language sql stable as
    $$ select pg_catalog.statement_timestamp() + (select ms from stepped.clock) * interval '1 millisecond' $$`;
const SEARCH_PATH = encodeURIComponent('-c search_path=stepped,pg_catalog,public');

/**
 * The clock of the database steps by hours, forward and back. On PostgreSQL, a function shadows the server's own; on SQLite,
 * which uses the clock of each process, the programs replace the function when they open a file.
 */
export async function steppingClock({ test, folder }: FaultParts): Promise<Fault> {
  const { database, prefix, read } = test;
  const file = join(folder, 'clock');
  const set = async (hours: number): Promise<void> => {
    // Renamed, since a program that reads the file while it is written would find it empty, which is a step to 0.
    writeFileSync(`${file}.next`, String(hours * HOUR_MS));
    renameSync(`${file}.next`, file);
    if (database.store === 'postgres')
      await read(`${CLOCK}; update stepped.clock set ms = ${hours * HOUR_MS}`);
  };
  /** When callbacks were kept, by the database's clock, in that order. */
  const keptAt = async (): Promise<readonly number[]> =>
    (await read(`select first_at as at from ${prefix}callback order by id`)).map(({ at }) => Number(at));
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    const isThere = (): Promise<boolean> => holds().catch(() => false);
    for (let turn = 0; turn < MAX_TURNS && !(await isThere()); turn++) await wait(TURN_MS);
  };
  const isAt = (time: unknown, hours: number): boolean =>
    Math.abs(Number(time) - Date.now() - hours * HOUR_MS) < HOUR_MS / 2;
  /** Waits for a time, not for a number of callbacks: one that was under way during the step still has the old time. */
  const kept = (hours: number): Promise<void> => until(async () => isAt((await keptAt()).at(-1), hours));
  /** A step back is noticed only if a worker has noted a later time. */
  const noted = (hours: number): Promise<void> =>
    until(async () => {
      const [row] = await read(`select max(seen_at) as at from ${prefix}pulse`);
      return isAt(row?.['at'], hours);
    });
  await set(0);
  return {
    ...(database.store === 'postgres'
      ? { database: { ...database, url: `${database.url}?options=${SEARCH_PATH}` } }
      : {
          env: {
            NODE_OPTIONS: `--import=${new URL('stepped-clock.ts', import.meta.url).href}`,
            CRASH_TEST_CLOCK: file,
          },
        }),
    times: STEPS.length,
    async strike(at) {
      // So that a callback is kept at each time, however much the kills and the machine delay the load.
      if (at === 0) await kept(0);
      const hours = STEPS[at] ?? 0;
      await set(hours);
      await kept(hours);
      await noted(hours);
    },
    async happened() {
      const times = await keptAt();
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

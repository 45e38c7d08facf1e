import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PREFIX } from '../history/remains.ts';
import { judge } from '../measure/results.ts';
import { until } from '../measure/until.ts';
import { type Fault, type FaultParts, preloaded } from './fault.ts';

const HOUR_MS = 3_600_000;
/** How many hours the database's clock is ahead of the machine's after each step. */
const STEPS = [3, -2, 5, 0];
/** The longest that a step may take to show; without it the run fails, since the fault did not happen. */
const SHOWN = { withinMs: 30_000 };

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
export async function steppingClock({ topology: { database, read }, folder }: FaultParts): Promise<Fault> {
  const isServer = database.store === 'postgres';
  const prefix = PREFIX[database.store];
  const file = join(folder, 'clock');
  const set = async (hours: number): Promise<void> => {
    // Renamed, since a program that reads the file while it is written would find it empty, which is a step to 0.
    writeFileSync(`${file}.next`, String(hours * HOUR_MS));
    renameSync(`${file}.next`, file);
    if (isServer) await read(`${CLOCK}; update stepped.clock set ms = ${hours * HOUR_MS}`);
  };
  /** Waits for a time, not for a number of rows: what was under way during the step still has the old time. */
  const shows = (statement: string, hours: number): Promise<unknown> =>
    until(
      `${hours} hours in: ${statement}`,
      async () => {
        const [row] = await read(statement).catch(() => []);
        return Math.abs(Number(row?.['at']) - Date.now() - hours * HOUR_MS) < HOUR_MS / 2;
      },
      SHOWN,
    );
  const kept = `select first_at as at from ${prefix}callback order by id`;
  await set(0);
  return {
    ...(isServer
      ? { database: { ...database, url: `${database.url}?options=${SEARCH_PATH}` } }
      : { env: () => preloaded('stepped-clock.ts', { CRASH_TEST_CLOCK: file }) }),
    times: STEPS.length,
    async strike(at) {
      // So that a callback is kept at each time, however much the kills and the machine delay the load.
      if (at === 0) await shows(`${kept} desc limit 1`, 0);
      const hours = STEPS[at] ?? 0;
      await set(hours);
      await shows(`${kept} desc limit 1`, hours);
      // A step back is noticed only if a worker has noted a later time.
      await shows(`select max(seen_at) as at from ${prefix}pulse`, hours);
    },
    async happened() {
      const times = (await read(kept)).map(({ at }) => Number(at));
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

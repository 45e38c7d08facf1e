import { setTimeout as wait } from 'node:timers/promises';
import { Link } from '../load/link.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd } from '../measure/program.ts';
import { judge } from '../measure/results.ts';
import { type Fault, type FaultParts, unanswered, type Window } from './fault.ts';

const STALL_MS = 30_000;

/** Nothing passes between the merchant's programs and PostgreSQL for 30 s, and then everything arrives that was sent before. */
export async function stall({ topology: { database } }: FaultParts): Promise<Fault> {
  if (database.store !== 'postgres')
    throw new Error('stall needs --store postgres: SQLite has no connection.');
  const url = new URL(database.url);
  const link = await Link.open(Number(url.port));
  atTheEnd(() => link.close());
  url.port = String(link.port);
  const stalls: (Window & { readonly connections: number })[] = [];
  return {
    database: { ...database, url: url.href },
    times: 2,
    async strike() {
      const from = monotonicMs();
      link.hold();
      await wait(STALL_MS);
      const to = monotonicMs();
      stalls.push({ from, to, connections: link.release() });
    },
    async happened(seen) {
      const shortest = Math.min(...stalls.map(({ from, to }) => to - from));
      const held = stalls.reduce((sum, { connections }) => sum + connections, 0);
      const silent = unanswered(seen, stalls);
      return [
        judge('shortest stall', 'ms', shortest, 'at least', STALL_MS),
        judge('connections that were held and continued', 'connections', held, 'at least', 4),
        judge('requests without an answer during a stall', 'requests', silent, 'at least', 10),
      ];
    },
  };
}

/**
 * `pnpm bench:scale`: how long every operator call takes on PostgreSQL with a year of payments, created in SQL, and whether
 * keeping and settling take longer than without them. Prints a table, writes reports/bench-scale.json, and exits with 1 if a
 * call takes more than 50 ms.
 *
 * --payments sets their number; each takes about 2 KB of disk.
 */
import { createHash } from 'node:crypto';
import { openBacklog } from '@payment-service/durability/load/backlog.ts';
import { postgresEngine } from '@payment-service/durability/load/engines.ts';
import { databaseUrl, startWarmPostgres } from '@payment-service/durability/load/postgres.ts';
import { interleave, spread } from '@payment-service/durability/measure/measure.ts';
import { atTheEnd, runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, told } from '@payment-service/durability/measure/results.ts';
import { figure } from '@payment-service/durability/measure/tables.ts';
import { createInbox, type Inbox, type PostgresClient, type Store } from '@payment-service/inbox';
import { countsOf, fillScale } from './fill-scale.ts';

const FULL = { rounds: 15, payments: 10_000_000, settled: 500 };
const SHORT = { rounds: 1, payments: 5000, settled: 10 };
const AT_MOST_MS = 50;

export default function (): Promise<void> {
  return runBenchmark('bench-scale', { full: FULL, short: SHORT }, async (pace, isShort) => {
    const { payments, rounds, settled } = pace;
    const server = await startWarmPostgres(isShort, { max_wal_size: '8GB', shared_buffers: '1GB' });
    const [small, large] = [
      await postgresEngine(server.url, 'small'),
      await postgresEngine(server.url, 'large'),
    ];
    const backlogs = { 'no payments': openBacklog(small, 0), them: openBacklog(large, 0) };
    for (const { fill, close } of Object.values(backlogs)) {
      atTheEnd(close);
      await fill();
    }
    const began = performance.now();
    await fillScale(databaseUrl(server.url, 'large'), payments);
    const took = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`${payments.toLocaleString('en')} payments made in ${took} s\n`);
    const inbox = createInbox({ store: { ...large.store, close: async () => undefined } });
    atTheEnd(() => inbox.close());
    await inbox.ready();
    inbox.handle(() => undefined);
    // Nothing is due: as a worker does in its first minutes, this sums the hours of the last month.
    for (let step = 0; step < 16; step++) await inbox.drain();
    const calls = Object.entries(await operatorCalls(inbox, large.store, payments));
    const timed = await interleave(calls, rounds, Math.random, async ([, call]) => {
      const began = performance.now();
      await call();
      return performance.now() - began;
    });
    const times = new Map([...timed].map(([[name], own]) => [name, own]));
    const settling = await interleave(Object.entries(backlogs), 3, Math.random, async ([, backlog]) => {
      await backlog.fill((await backlog.due()) + settled);
      return 1000 / (await backlog.drain(settled, { concurrency: 4 }));
    });
    for (const [[beside], own] of settling) times.set(`control: ms a settled payment, with ${beside}`, own);
    const results = [...times].map(([name, own]) =>
      name.startsWith('control')
        ? told(name, 'ms', spread(own))
        : judge(name, 'ms', spread(own), 'at most', AT_MOST_MS),
    );
    const table = {
      title: 'The fastest and the slowest round, in ms',
      head: ['', 'fastest', 'slowest', ''],
      rows: [...times].map(([name, own]) => [name, figure(Math.min(...own)), figure(Math.max(...own)), '']),
    };
    return { results, tables: [table] };
  });
}

/** Every view of the operator, by the function called, and the control. */
async function operatorCalls(
  inbox: Inbox<PostgresClient>,
  store: Store<PostgresClient>,
  payments: number,
): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  const middle = Math.floor(payments / 2) - (Math.floor(payments / 2) % 100);
  const after = createHash('sha256').update(String(middle)).digest('hex');
  const [newest] = await inbox.list({ state: 'settled', limit: 1 });
  const [inTheMiddle] = await inbox.list({ merchant_reference: `ORD-${middle}` });
  if (newest === undefined || inTheMiddle?.transitionId !== after)
    throw new Error('The generated payments are not those that the inbox looks for.');
  const half = inTheMiddle.changedAt;
  const counted = (await inbox.stats()).states;
  for (const [state, count] of Object.entries(countsOf(payments)))
    if (counted[state as keyof typeof counted] !== count)
      throw new Error(
        `stats() has counted other payments than the generated ones: ${JSON.stringify(counted)}`,
      );
  const state = 'settled';
  return {
    'list()': () => inbox.list(),
    'list({ after }), in the middle': () => inbox.list({ after }),
    "list({ state: 'settled', limit: 1000 })": () => inbox.list({ state, limit: 1000 }),
    "list({ state: 'settled', since, until }), a day in the middle": () =>
      inbox.list({ state, since: half, until: new Date(half.getTime() + 86_400_000) }),
    "list({ state: 'pending' })": () => inbox.list({ state: 'pending' }),
    'list({ reason })': () => inbox.list({ reason: 'no_handler' }),
    'list({ state, reason, until })': () =>
      inbox.list({ state: 'quarantined', reason: 'amount_mismatch', until: half }),
    'list({ since }), from the middle on': () => inbox.list({ since: half }),
    'list({ merchant_reference })': () => inbox.list({ merchant_reference: `ORD-${middle}` }),
    'list({ internal_reference })': () => inbox.list({ internal_reference: `INT-${middle + 1}` }),
    'show()': () => inbox.show(after),
    'stats()': () => inbox.stats(),
    'history(), which the charts show': () => inbox.history(),
    'overdue()': () => inbox.overdue(),
    'health()': () => inbox.health(),
    'control: counts every payment': () =>
      store.query({ text: `select state, count(*) from ${store.prefix}transition group by state` }, []),
  };
}

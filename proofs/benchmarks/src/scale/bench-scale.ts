/**
 * `pnpm lab bench:scale`: how long every operator call takes on PostgreSQL with a year of payments, created in SQL, and whether
 * keeping and settling take longer than without them. Then a statement of a million rows, and the indexes that nothing has used.
 * Prints a table, writes reports/bench-scale.json, and exits with 1 if a call takes more than 50 ms.
 *
 * --payments sets their number; each takes about 2 KB of disk.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openBacklog } from '@payment-service/durability/load/backlog.ts';
import { postgresEngine } from '@payment-service/durability/load/engines.ts';
import { databaseUrl, startWarmPostgres } from '@payment-service/durability/load/postgres.ts';
import { interleave, spread } from '@payment-service/durability/measure/measure.ts';
import { atTheEnd, makeFolder, runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { figure } from '@payment-service/durability/measure/tables.ts';
import {
  createInbox,
  type Inbox,
  type PaymentFilter,
  type PostgresClient,
  readStatement,
  type Store,
} from '@payment-service/inbox';
import { fillScale } from './fill-scale.ts';

const FULL = { rounds: 15, payments: 10_000_000, settled: 500, statement: 1_000_000 };
const SHORT = { rounds: 1, payments: 15_000, settled: 10, statement: 10_000 };
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
    inbox.handle('paid', () => undefined);
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
    results.push(...(await judgeStatements(inbox, pace.statement)));
    // With an archive: an index of an empty table is never used.
    await inbox.prune({ archiveOlderThanDays: 363 });
    await backlogs.them.fill((await backlogs.them.due()) + settled);
    await backlogs.them.drain(settled);
    for (const [, call] of calls) await call();
    const unused = await unusedIndexes(large.store);
    if (unused.length > 0) console.log(`Unused: ${unused.join(', ')}\n`);
    results.push(judge('indexes that nothing has used', 'indexes', unused.length, 'exactly', 0));
    const table = {
      title: 'The fastest and the slowest round, in ms',
      head: ['', 'fastest', 'slowest', ''],
      rows: [...times].map(([name, own]) => [name, figure(Math.min(...own)), figure(Math.max(...own)), '']),
    };
    return { results, tables: [table] };
  });
}

/** Besides those that keep a value unique, and those of tables with a few rows. */
async function unusedIndexes(store: Store<PostgresClient>): Promise<readonly string[]> {
  await setTimeout(2000); // A connection reports its counts once a second.
  const text = `select indexrelname as name from pg_stat_user_indexes join pg_index using (indexrelid)
    join pg_class c on c.oid = indrelid where schemaname = 'payment_inbox' and idx_scan = 0 and not indisunique
    and reltuples > 1000 order by 1`;
  return (await store.query({ text }, [])).map(({ name }) => String(name));
}

/** In pieces: the memory of a whole file would be counted. */
function* linesOf(count: number): Generator<string> {
  yield 'Reference,Id\n';
  for (let from = 1; from <= count; from += 1000)
    yield Array.from({ length: 1000 }, (_, index) => `ORD-${from + index},INT-${from + index}\n`).join('');
}

/** A statement of the first payments: its time beside that of sort and join, and the memory beside that for a tenth of it. */
async function judgeStatements(inbox: Inbox<PostgresClient>, rows: number): Promise<Result[]> {
  const path = join(await makeFolder(), 'statement.csv');
  const [last] = await inbox.reports({ merchant_reference: `ORD-${rows}` });
  const options = { from: new Date(0), to: last?.changedAt ?? new Date(), by: 'bench', note: 'scale' };
  const format = {
    map: { merchant_reference: 'Reference', internal_reference: 'Id' },
    set: { transaction_type: 'COLLECTION', transaction_status: 'COMPLETED', currency: 'UGX', amount: '500' },
  };
  const run = async (count: number): Promise<{ seconds: number; peak: number }> => {
    await writeFile(path, linesOf(count));
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const began = performance.now();
    const { lines } = await readStatement(createReadStream(path), format);
    const { counts } = await inbox.reconcileStatement(lines, options);
    clearInterval(watch);
    const verdicts = Object.values(counts).reduce((sum, one) => sum + one, 0);
    if (verdicts < count) throw new Error(`${verdicts} verdicts for ${count} rows.`);
    return { seconds: (performance.now() - began) / 1000, peak };
  };
  const few = await run(rows / 10); // Also warms the code up.
  const many = await run(rows);
  const began = performance.now();
  const text =
    'sort "$0" >"$0.1"; sort -r "$0" | sort >"$0.2"; join -t, -v 1 "$0.1" "$0.2"; join -t, -v 2 "$0.1" "$0.2"';
  execFileSync('sh', ['-c', text, path], { env: { ...process.env, LC_ALL: 'C' } });
  const name = `a statement of ${rows.toLocaleString('en')} rows`;
  return [
    told(name, 's', many.seconds),
    told(`${name}: sort and join of two such files`, 's', (performance.now() - began) / 1000),
    told(`${name}: the most memory`, 'MB', many.peak / 2 ** 20),
    judge(`${name}: memory over that for a tenth`, 'ratio', many.peak / few.peak, 'at most', 1.2),
  ];
}

/** The lists of payments: each state, what is needed, searches, and pages in the middle. */
function listsOf(
  inbox: Inbox<PostgresClient>,
  half: Date,
  next: string,
): Readonly<Record<string, () => Promise<unknown>>> {
  const day = { since: half, until: new Date(half.getTime() + 86_400_000) };
  const filters: readonly PaymentFilter[] = [
    {},
    ...(['paid', 'open', 'overdue', 'held', 'failed', 'unexpected'] as const).map((state) => ({ state })),
    ...[
      { needed: true } as const,
      { needed: true, state: 'paid' } as const,
      { reason: 'already_settled' } as const,
    ],
    ...[{ search: 'rd-77' }, { search: 'no such part' }, { search: 'nt-77' }, { search: 'int-77' }],
    ...[
      { provider: 'example_bank' },
      { provider: 'none', state: 'paid' } as const,
      { limit: 1000 },
      { order: 'none' },
    ],
  ];
  return {
    ...Object.fromEntries(
      filters.map((filter) => [`payments(${JSON.stringify(filter)})`, async () => inbox.payments(filter)]),
    ),
    "payments({ state: 'paid', after }), in the middle": async () =>
      inbox.payments({ state: 'paid', after: next }),
    'payments({ since, until }), a day in the middle': async () => inbox.payments(day),
  };
}

/** Every view of the operator, by the function called, and the control. */
async function operatorCalls(
  inbox: Inbox<PostgresClient>,
  store: Store<PostgresClient>,
  payments: number,
): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  const middle = Math.floor(payments / 2) - (Math.floor(payments / 2) % 100);
  const after = createHash('sha256').update(String(middle)).digest('hex');
  const [newest] = await inbox.reports({ state: 'settled', limit: 1 });
  const [inTheMiddle] = await inbox.reports({ merchant_reference: `ORD-${middle}` });
  if (newest === undefined || inTheMiddle?.transitionId !== after)
    throw new Error('The generated payments are not those that the inbox looks for.');
  const half = inTheMiddle.changedAt;
  const state = 'settled';
  const paidPage = await inbox.payments({ state: 'paid', until: half });
  if (paidPage.next === undefined) throw new Error('There is no second page of paid payments.');
  const { next } = paidPage;
  const readVersion: () => unknown = Reflect.get(inbox, Symbol.for('@payment-service/inbox/read-version/1'));
  return {
    ...listsOf(inbox, half, next),
    'payment()': () => inbox.payment(`ORD-${middle}`),
    'payment(), held': () => inbox.payment(`ORD-${1000 * Math.floor(payments / 4000) + 13}`),
    'payment({ internal_reference })': () => inbox.payment({ internal_reference: `INT-${middle + 1}` }),
    'counts()': () => inbox.counts(),
    'the version that an open page asks for': async () => readVersion(),
    'reports()': () => inbox.reports(),
    'reports({ after }), in the middle': () => inbox.reports({ after }),
    "reports({ state: 'settled', limit: 1000 })": () => inbox.reports({ state, limit: 1000 }),
    "reports({ state: 'settled', since, until }), a day in the middle": () =>
      inbox.reports({ state, since: half, until: new Date(half.getTime() + 86_400_000) }),
    "reports({ state: 'pending' })": () => inbox.reports({ state: 'pending' }),
    'reports({ reason })': () => inbox.reports({ reason: 'no_handler' }),
    'reports({ state, reason, until })': () =>
      inbox.reports({ state: 'quarantined', reason: 'amount_mismatch', until: half }),
    'reports({ since }), from the middle on': () => inbox.reports({ since: half }),
    'reports({ merchant_reference })': () => inbox.reports({ merchant_reference: `ORD-${middle}` }),
    'reports({ internal_reference })': () => inbox.reports({ internal_reference: `INT-${middle + 1}` }),
    'report()': () => inbox.report(after),
    'history(), which the charts show': () => inbox.history(),
    'totals(), of an hour': () => inbox.totals({ from: half, to: new Date(half.getTime() + 3_600_000) }),
    'health()': () => inbox.health(),
    'control: counts every payment': () =>
      store.query({ text: `select state, count(*) from ${store.prefix}transition group by state` }, []),
  };
}

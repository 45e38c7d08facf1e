import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createInbox, type Inbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { versionOf } from '../../src/operator/version.ts';
import { type Asked, fill, numbers, planOf, visitedBy } from '../support/plans.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const COUNT = 40_000;
const CALLBACKS = (count: number): string =>
  `insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${numbers(count)} select case when i = 20000 then '${'a'.repeat(64)}' else 't' || i end, '',
    '{"merchant_reference":"","internal_reference":"","transaction_type":"","transaction_status":"","event":""}',
    'r' || i, '"COLLECTION"', 's' || i, i from n`;
/** Every thousandth waits for a worker, and every thousandth for an operator. */
const SETTLED = [
  CALLBACKS(COUNT),
  `insert into inbox.transition (id, account, state, reason, bodies, next_at, changed_at)
  ${numbers(COUNT)} select i, '', case i % 1000 when 1 then 'pending' when 2 then 'unhandled' else 'settled' end,
    case i % 1000 when 2 then 'no_expectation' end, 1, case i % 1000 when 1 then i end, i from n`,
  `insert into inbox.payment (reference_key, transaction_type, account, merchant_reference, state, currency, amount,
    compare, replaced, deadline_at, settled_by, settled_at, changed_at)
  ${numbers(COUNT)} select 'r' || i, '"COLLECTION"', '', '"m' || i || '"', case when i % 1000 > 2 then 'paid' else 'open' end, 'UGX', '1', 'both', '[]', i, case when i % 1000 > 2 then 't' || i end,
    case when i % 1000 > 2 then i end, i from n`,
  `insert into inbox.balance (account, taken_at, wallets) select '', at, '[{"currency":"UGX","wallet_type":"MERCHANT_COLLECTION",
    "exact":{"actual_balance":"0"}}]' from (select 10000 as at union all select 10100) as taken`,
  `insert into inbox.tally (account, total) values ('', ${COUNT})`,
];
/** The same number again, settled at the same times, in the order in which prune() archives them. */
const ARCHIVED = [
  ...SETTLED,
  `insert into inbox.archive_kind (account, event, transaction_type, transaction_status, state, reason, currency, compare)
  values ('', '""', '"COLLECTION"', '"COMPLETED"', 'settled', '', 'UGX', 'both')`,
  `insert into inbox.archive (id, changed_at, transition, kind, place, merchant_reference, internal_reference, amount)
  ${numbers(COUNT)} select ${COUNT} + i, i, i, 1, 1, '"a' || i || '"', '"b' || i || '"', '1' from n`,
];

type Sums = 'totals' | 'reconcile' | 'reconcileStatement';
type Views = Pick<Inbox<never>, 'reports' | 'report' | 'payment' | 'payments' | 'counts' | Sums>;
type Call = (inbox: Views) => Promise<unknown>;
const day = (time: number): Date => new Date(time);
const after = 'a'.repeat(64);

/** reports() by each of these, and its next page. */
function lists(limit: number, all: readonly Parameters<Views['reports']>[0][]): Record<string, Call> {
  const pages = all.flatMap((by) => [by, { ...by, after }]);
  return Object.fromEntries(
    pages.map((by) => [`reports(${JSON.stringify(by)})`, (inbox) => inbox.reports({ ...by, limit })]),
  );
}

const VERSION = 'the version that open pages follow';
const CALLS: Record<string, Call> = {
  ...lists(5, [
    {},
    ...([{ state: 'settled' }, { state: 'pending' }, { reason: 'no_expectation' }] as const),
    { state: 'settled', since: day(10_000), until: day(30_000) },
    { state: 'unhandled', reason: 'no_expectation' },
    ...[{ since: day(100) }, { since: day(100_000) }, { until: day(100) }, { merchant_reference: 'm1' }],
    { merchant_reference: 'm1', internal_reference: 's1', state: 'settled' },
  ]),
  'report()': (inbox) => inbox.report(after),
  'payment()': (inbox) => inbox.payment('m1'),
  'payments()': (inbox) => inbox.payments({ limit: 5 }),
  'payments({ needed })': (inbox) => inbox.payments({ needed: true, limit: 5 }),
  'payments({ state: paid, since })': (inbox) =>
    inbox.payments({ state: 'paid', since: day(39_000), limit: 5 }),
  [VERSION]: versionOf,
};

/** What is compared with balances and statements, for a short period. */
const period = { from: day(10_000), to: day(10_100) };
const creditedWithin = { secondsBefore: 0, secondsAfter: 0 };
const LINE = {
  ...{ merchant_reference: 'm1', internal_reference: 's1', transaction_type: 'COLLECTION' },
  ...{ transaction_status: 'COMPLETED', currency: 'UGX', amount: '1' },
};
const SUMS: Record<string, Call> = {
  'totals()': (inbox) => inbox.totals(period),
  'reconcile()': (inbox) => inbox.reconcile({ ...period, creditedWithin }),
  'reconcileStatement()': (inbox) =>
    inbox.reconcileStatement([LINE], { ...period, by: 'dana', note: 'month-end', dryRun: true }),
};

/** The statements that a call runs, with their values. */
async function askedBy<Tx>(store: Store<Tx>, call: Call): Promise<Asked[]> {
  const asked: Asked[] = [];
  const query: Store<Tx>['query'] = ({ text, ...how }, values, ...more) => {
    asked.push({ text, values });
    return store.query({ text, ...how }, values, ...more);
  };
  const inbox = createInbox({ store: { ...store, close: async () => undefined, query } });
  await inbox.ready();
  asked.length = 0;
  await call(inbox);
  const own = asked.filter(({ text }) => /^\s*select/.test(text) && text.includes(store.prefix));
  expect(own.length).toBeGreaterThan(0);
  return own;
}

/** Controls, as in earlier views: newest first by id, a scan of every row, and sums without an index. */
const SORT =
  "select id from inbox.transition where account = $1 and state || '' = 'settled' order by changed_at desc, id desc limit 5";
const WALK =
  'select id from inbox.transition where account = $1 and changed_at < 100 order by id desc limit 5';
const COUNT_ALL =
  'select state, reason, count(*) from inbox.transition where account = $1 group by state, reason';
const SUM =
  "select count(*) from inbox.payment where account || '' = $1 and settled_at + 0 between 10000 and 10100";
const SUM_ARCHIVED =
  'select count(*) from inbox.archive where cast($1 as text) is not null and changed_at + 0 between 10000 and 10100';

/** More than the nine states with a page each, and than the open transitions in this data; far fewer than the settled ones. */
const FEW = 200;

/** Its own database: in a shared one, VACUUM skips what an open transaction of another test may still see. */
const address = new URL(inject('postgresUrl'));
address.pathname = `plans_${randomBytes(8).toString('hex')}`;
// ANALYZE looks at 300 rows for each: at all of them here, so that no plan depends on which ones it chose.
address.searchParams.set('options', '-c default_statistics_target=400');

beforeAll(async () => {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(`create database ${address.pathname.slice(1)}`).finally(() => admin.end());
});

describe.each([
  ['40,000 settled and as many archived', ARCHIVED, CALLS, FEW, [SORT, WALK, COUNT_ALL]],
  ['40,000 settled and as many archived, of a period', ARCHIVED, SUMS, COUNT / 8, [SUM, SUM_ARCHIVED]],
] as const)('what an operator asks on postgres, with %s', (_name, fills, calls, most, controls) => {
  const pool = new pg.Pool({ connectionString: address.href, max: 4 });
  const store = postgres(pool, { schema: 'settled_plans' });
  beforeAll(async () => {
    const { rows } = await pool.query('select to_regnamespace($1) as made', [store.prefix.slice(0, -1)]);
    if (rows[0]?.made === null) {
      await fill(store, fills);
      await pool.query('vacuum analyze');
    }
    return () => pool.end();
  });

  test.each(Object.entries(calls))('%s visits few rows', async (_, call) => {
    for (const each of await askedBy(store, call))
      expect(await visitedBy(pool, each), each.text).toBeLessThan(most);
  });

  test.each(controls)('visits nearly all of them when it asks: %s (control)', async (text) => {
    const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
    expect(await visitedBy(pool, asked)).toBeGreaterThan(COUNT / 2);
  });
});

describe('what an operator asks on sqlite', () => {
  const store = sqlite(`${folderOnDisk()}/plans.db`);
  /** Tables that are scanned in full. The newest ids are read the same way, up to the limit: `reports({})`, and the version. */
  const scannedBy = async (text: string): Promise<string[]> =>
    (await planOf(store, text)).filter((step) => /^SCAN (t|c|e|b|payment_inbox_\w+)\b/.test(step));
  beforeAll(async () => {
    await fill(store, SETTLED);
    return () => store.close?.();
  });

  const calls = Object.entries({ ...CALLS, ...SUMS });
  test.each(calls.filter(([name]) => ![VERSION, 'reports({})'].includes(name)))(
    '%s scans no table',
    async (_, call) => {
      for (const { text } of await askedBy(store, call)) expect(await scannedBy(text), text).toEqual([]);
    },
  );

  test.each([SORT, WALK, SUM])('scans a table when it asks: %s (control)', async (text) => {
    expect(await scannedBy(text.replaceAll('inbox.', store.prefix))).not.toEqual([]);
  });
});

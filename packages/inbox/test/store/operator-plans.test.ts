import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createInbox, type Inbox, postgres, type SqlValue, type Store, sqlite } from '../../src/index.ts';
import { MAX_COUNTED } from '../../src/states.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const COUNT = 40_000;
/** Every thousandth waits for a worker, and every thousandth for a person. */
const NUMBERS = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${COUNT})`;
const FILLS = [
  `insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${NUMBERS} select case when i = 20000 then '${'a'.repeat(64)}' else 't' || i end, '',
    '{"merchant_reference":"","internal_reference":"","transaction_type":"","transaction_status":"","event":""}',
    'r' || i, '"COLLECTION"', 's' || i, i from n`,
  `insert into inbox.transition (id, account, state, reason, bodies, next_at, changed_at)
  ${NUMBERS} select i, '', case i % 1000 when 1 then 'pending' when 2 then 'unhandled' else 'settled' end,
    case i % 1000 when 2 then 'no_expectation' end, 1, case i % 1000 when 1 then i end, i from n`,
  `insert into inbox.expectation (reference_key, transaction_type, account, merchant_reference, currency, amount, compare,
    replaced, deadline_at, settled_by, settled_at, changed_at)
  ${NUMBERS} select 'r' || i, '"COLLECTION"', '', 'm' || i, 'UGX', '1', 'both', '[]', i, case when i % 1000 > 2 then 't' || i end,
    case when i % 1000 > 2 then i end, i from n`,
  `insert into inbox.balance (account, taken_at, wallets) select '', at, '[{"currency":"UGX","wallet_type":"MERCHANT_COLLECTION",
    "exact":{"actual_balance":"0"}}]' from (select 10000 as at union all select 10100) as taken`,
  `insert into inbox.tally (account, total) values ('', ${COUNT})`,
];
/** As many again that were settled at the same times, in the order in which prune() archives them. */
const ARCHIVE_FILLS = [
  `insert into inbox.archive_kind (account, event, transaction_type, transaction_status, state, reason, currency, compare)
  values ('', '""', '"COLLECTION"', '"COMPLETED"', 'settled', '', '"UGX"', 'both')`,
  `insert into inbox.archive (id, changed_at, transition, kind, place, merchant_reference, internal_reference, amount)
  ${NUMBERS} select ${COUNT} + i, i, i, 1, 1, '"a' || i || '"', '"b' || i || '"', '1' from n`,
];

/** As many of each state that waits for a worker or a person, in turn: a backlog of a day without the ledger. */
const BACKLOG = 100_000;
const IN_TURN =
  "case i % 5 when 0 then 'retrying' when 1 then 'pending' when 2 then 'unhandled' when 3 then 'dead'";
const BACKLOG_FILLS = [
  (FILLS[0] ?? '').replace(`i < ${COUNT}`, `i < ${BACKLOG}`),
  `insert into inbox.transition (id, account, state, reason, bodies, next_at, changed_at)
  ${NUMBERS.replace(String(COUNT), String(BACKLOG))} select i, '', ${IN_TURN} else 'quarantined' end,
    case i % 5 when 2 then 'no_expectation' when 3 then 'attempts_used_up' when 4 then 'amount_mismatch' end, 1,
    case when i % 5 < 2 then i end, i from n`,
  `insert into inbox.tally (account, total) values ('', ${BACKLOG})`,
];

const day = (time: number): Date => new Date(time);
const after = 'a'.repeat(64);
const limit = 5;
type Sums = 'totals' | 'reconcile' | 'reconcileStatement';
type Views = Pick<Inbox<never>, 'list' | 'show' | 'stats' | 'overdue' | Sums>;
type Calls = Readonly<Record<string, (inbox: Views) => Promise<unknown>>>;
const CALLS: Calls = {
  'list()': (inbox) => inbox.list({ limit }),
  'the next page of list()': (inbox) => inbox.list({ after, limit }),
  'list() of what is settled': (inbox) => inbox.list({ state: 'settled', limit }),
  'the next page of what is settled': (inbox) => inbox.list({ state: 'settled', after, limit }),
  'list() of what was settled then': (inbox) =>
    inbox.list({ state: 'settled', since: day(10_000), until: day(30_000), limit }),
  'list() of what waits': (inbox) => inbox.list({ state: 'pending', limit }),
  'list() by a reason': (inbox) => inbox.list({ reason: 'no_expectation', limit }),
  'list() by a state and a reason': (inbox) =>
    inbox.list({ state: 'unhandled', reason: 'no_expectation', after, limit }),
  'list() since a moment': (inbox) => inbox.list({ since: day(100), limit }),
  'list() since a moment in the future': (inbox) => inbox.list({ since: day(100_000), limit }),
  'list() until a moment': (inbox) => inbox.list({ until: day(100), limit }),
  'the next page since a moment': (inbox) => inbox.list({ since: day(100), after, limit }),
  'list() by a merchant_reference': (inbox) => inbox.list({ merchant_reference: 'm1', limit }),
  'list() by both references and a state': (inbox) =>
    inbox.list({ merchant_reference: 'm1', internal_reference: 's1', state: 'settled', limit }),
  'show()': (inbox) => inbox.show(after),
  'stats()': (inbox) => inbox.stats(),
  'overdue()': (inbox) => inbox.overdue({ limit }),
};

/** What is held against balances and statements, of a short period. */
const period = { from: day(10_000), to: day(10_100) };
const SUMS: Calls = {
  'totals()': (inbox) => inbox.totals(period),
  'reconcile()': (inbox) =>
    inbox.reconcile({ ...period, creditedWithin: { secondsBefore: 0, secondsAfter: 0 } }),
  'reconcileStatement()': (inbox) =>
    inbox.reconcileStatement([], { ...period, by: 'dana', note: 'month-end', dryRun: true }),
};
/** The same without an index. */
const SUM_CONTROLS = [
  'select count(*) from inbox.expectation where account = $1 and settled_at + 0 between 10000 and 10100',
  'select count(*) from inbox.archive where cast($1 as text) is not null and changed_at + 0 between 10000 and 10100',
];

/** What the pages of the console ask for: lists of five, of a page and of one more, and the preview of many. */
const PAGES: Calls = {
  ...Object.fromEntries(
    (['retrying', 'pending', 'unhandled', 'dead', 'quarantined', 'settled'] as const).flatMap((state) => [
      [`list() of what is ${state}`, (inbox: Views) => inbox.list({ state, limit: 26 })],
      [`the next page of what is ${state}`, (inbox: Views) => inbox.list({ state, after, limit: 26 })],
    ]),
  ),
  'list() by a state and a reason': (inbox) =>
    inbox.list({ state: 'dead', reason: 'attempts_used_up', until: day(90_000), limit: 26 }),
  'list() by a reference and a state': (inbox) =>
    inbox.list({ merchant_reference: 'm1', state: 'pending', limit: 26 }),
  'list()': (inbox) => inbox.list({ limit: 26 }),
  'the story': (inbox) => inbox.show(after),
};
/** These read more, and not more for a longer backlog. */
const BOUNDED: Calls = {
  'stats()': (inbox) => inbox.stats(),
  'list() since a moment': (inbox) => inbox.list({ since: day(100), limit }),
};

interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** The statements that a call asks, with their values. */
async function askedBy<Tx>(store: Store<Tx>, call: Calls[string]): Promise<Asked[]> {
  const asked: Asked[] = [];
  const inbox = createInbox({
    store: {
      ...store,
      close: async () => undefined,
      query(statement, values, tx, limitMs) {
        asked.push({ text: statement.text, values });
        return store.query(statement, values, tx, limitMs);
      },
    },
  });
  await inbox.ready();
  asked.length = 0;
  await call(inbox);
  return asked.filter(({ text }) => /^\s*select/.test(text) && text.includes(store.prefix));
}

async function fill<Tx>(store: Store<Tx>, fills: readonly string[] = FILLS): Promise<void> {
  await createInbox({ store }).ready();
  for (const text of fills) await store.query({ text: text.replaceAll('inbox.', store.prefix) }, []);
}

/** What the views asked before: newest first by the id, and a look at every row. */
const CONTROLS = [
  "select id from inbox.transition where account = $1 and state || '' = 'settled' order by changed_at desc, id desc limit 5",
  'select id from inbox.transition where account = $1 and changed_at < 100 order by id desc limit 5',
  'select state, reason, count(*) from inbox.transition where account = $1 group by state, reason',
];

/** More than the nine states, each with a page, and what is open in this data; and far below what is settled. */
const FEW = 200;

/** A database of its own: in a shared one, VACUUM leaves out what an open transaction of another test may still see. */
const address = new URL(inject('postgresUrl'));
address.pathname = `plans_${randomBytes(8).toString('hex')}`;
// ANALYZE looks at 300 rows for each: at all of them here, so that no plan depends on which ones it chose.
address.searchParams.set('options', '-c default_statistics_target=400');

beforeAll(async () => {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(`create database ${address.pathname.slice(1)}`).finally(() => admin.end());
});

/** How many rows the plan's busiest node reads, in all of its loops or in each. */
async function visitedBy(pool: pg.Pool, { text, values }: Asked, of?: 'of one loop'): Promise<number> {
  const { rows } = await pool.query(`explain (analyze, format json) ${text}`, [...values]);
  const [{ Plan: root }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
  const visited = flat(root).map(
    (node) =>
      (node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0)) *
      (of === undefined ? node['Actual Loops'] : 1),
  );
  return Math.max(...visited);
}

describe('what an operator asks on postgres, with 40,000 settled', () => {
  const pool = new pg.Pool({ connectionString: address.href, max: 4 });
  const store = postgres(pool, { schema: 'operator_plans' });
  beforeAll(async () => {
    await fill(store);
    await pool.query(
      'vacuum analyze operator_plans.transition, operator_plans.callback, operator_plans.expectation',
    );
    return () => pool.end();
  });

  test.each(Object.entries(CALLS))('%s visits few rows', async (_, call) => {
    const asked = await askedBy(store, call);
    expect(asked.length).toBeGreaterThan(0);
    for (const each of asked) expect(await visitedBy(pool, each), each.text).toBeLessThan(FEW);
  });

  test.each(CONTROLS)('visits nearly all of them when it asks: %s (control)', async (text) => {
    const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
    expect(await visitedBy(pool, asked)).toBeGreaterThan(COUNT / 2);
  });
});

describe('what a reconciliation asks on postgres, with 40,000 settled and as many archived', () => {
  const pool = new pg.Pool({ connectionString: address.href, max: 4 });
  const store = postgres(pool, { schema: 'sum_plans' });
  beforeAll(async () => {
    await fill(store, [...FILLS, ...ARCHIVE_FILLS]);
    await pool.query('vacuum analyze sum_plans.expectation, sum_plans.archive, sum_plans.archive_kind');
    return () => pool.end();
  });

  test.each(Object.entries(SUMS))('%s visits little more than its period', async (_, call) => {
    const asked = await askedBy(store, call);
    expect(asked.length).toBeGreaterThan(0);
    for (const each of asked) expect(await visitedBy(pool, each), each.text).toBeLessThan(COUNT / 8);
  });

  test.each(SUM_CONTROLS)('visits all of them when it asks: %s (control)', async (text) => {
    const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
    expect(await visitedBy(pool, asked)).toBeGreaterThan(COUNT / 2);
  });
});

describe('what an operator asks on postgres, with 100,000 that are parked or due', () => {
  const pool = new pg.Pool({ connectionString: address.href, max: 4 });
  const store = postgres(pool, { schema: 'backlog_plans' });
  beforeAll(async () => {
    await fill(store, BACKLOG_FILLS);
    await pool.query('vacuum analyze backlog_plans.transition, backlog_plans.callback');
    return () => pool.end();
  });

  test.each(Object.entries(PAGES))('%s visits few rows', async (_, call) => {
    for (const each of await askedBy(store, call))
      expect(await visitedBy(pool, each), each.text).toBeLessThan(FEW);
  });

  test.each(Object.entries(BOUNDED))('%s visits no more than are counted of a state', async (_, call) => {
    for (const each of await askedBy(store, call))
      expect(await visitedBy(pool, each, 'of one loop'), each.text).toBeLessThanOrEqual(MAX_COUNTED);
  });

  test('stats() says where it has not counted all', async () => {
    const { states, reasons } = await createInbox({ store }).stats();
    const cut = {
      retrying: MAX_COUNTED,
      unhandled: MAX_COUNTED,
      dead: MAX_COUNTED,
      quarantined: MAX_COUNTED,
    };
    expect(states).toMatchObject({ ...cut, conflict: 0, pending: MAX_COUNTED / 2, settled: 0 });
    expect(reasons).toEqual({
      no_expectation: MAX_COUNTED,
      attempts_used_up: MAX_COUNTED,
      amount_mismatch: MAX_COUNTED,
    });
  });

  test.each(CONTROLS.slice(2))('visits all of them when it asks: %s (control)', async (text) => {
    const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
    expect(await visitedBy(pool, asked)).toBe(BACKLOG);
  });
});

describe.each([
  ['40,000 settled', FILLS, { ...CALLS, ...SUMS }],
  ['100,000 that are parked or due', BACKLOG_FILLS, { ...PAGES, ...BOUNDED }],
])('what an operator asks on sqlite, with %s', (_name, fills, calls) => {
  const store = sqlite(`${folderOnDisk()}/plans.db`);
  /** Tables that are read from one end to the other. The newest ids are read so, up to the limit. */
  async function scannedBy({ text, values }: Asked): Promise<unknown[]> {
    const { rows } = await store.transaction((tx) => {
      const numbers = [...text.matchAll(/\$(\d)/g)].map(([, number]) => Number(number) - 1);
      const plan = `explain query plan ${text.replace(/\$\d/g, '?')}`;
      return tx.query(
        plan,
        numbers.map((number) => values[number] ?? null),
      );
    });
    return rows
      .map(({ detail }) => detail)
      .filter((detail) => /^SCAN (t|c|e|b|payment_inbox_\w+)\b/.test(String(detail)));
  }
  beforeAll(async () => {
    await fill(store, fills);
    return () => store.close?.();
  });

  test.each(Object.entries(calls).filter(([name]) => name !== 'list()'))(
    '%s scans no table',
    async (_, call) => {
      for (const each of await askedBy(store, call)) expect(await scannedBy(each), each.text).toEqual([]);
    },
  );

  test.each([...CONTROLS.slice(0, 2), SUM_CONTROLS[0] ?? ''])(
    'scans a table when it asks: %s (control)',
    async (text) => {
      const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
      expect(await scannedBy(asked)).not.toEqual([]);
    },
  );
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

function flat(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)];
}

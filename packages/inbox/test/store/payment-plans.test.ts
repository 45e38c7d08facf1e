import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createInbox, type Inbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { versionOf } from '../../src/operator/version.ts';
import { PAYMENT_STATES } from '../../src/work/verdict/payment-state.ts';
import { type Asked, fill, numbers, planOf, visitedBy } from '../support/plans.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const STATES = ['held', 'unexpected', 'open', 'paid', 'reversed', 'failed', 'canceled'] as const;
/** Of each state. */
const COUNT = 2000;
const TOTAL = COUNT * STATES.length;
const STATE = `case i % 7 ${STATES.map((state, place) => `when ${place} then '${state}'`).join(' ')} end`;
const FILLS = [
  `insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${numbers(TOTAL)} select 't' || i, '',
    '{"merchant_reference":"m","internal_reference":"i","transaction_type":"COLLECTION","transaction_status":"COMPLETED","event":""}',
    'r' || i, '"COLLECTION"', 's' || i, i from n`,
  `insert into inbox.transition (id, account, state, bodies, changed_at) ${numbers(TOTAL)} select i, '', 'settled', 1, i from n`,
  // Of the open ones, half are overdue. Of those that a person must look at, a few have a reason of their own.
  `insert into inbox.payment (reference_key, transaction_type, account, merchant_reference, state, needs, currency, amount, compare,
    replaced, deadline_at, settled_by, settled_at, changed_at)
  ${numbers(TOTAL)} select 'r' || i, '"COLLECTION"', '', '"m' || i || '"', ${STATE},
    case when i % 700 = 0 then 'crash_loop' when i % 7 < 2 then 'amount_mismatch' when i % 70 = 3 then 'already_settled' end,
    'UGX', '1', 'both', '[]', case when i % 2 = 0 then i else 4000000000000 end,
    case when i % 7 in (3, 4) then 't' || i end, case when i % 7 in (3, 4) then i end, i from n`,
];

type Call = (inbox: Pick<Inbox<never>, 'payment' | 'payments' | 'counts'>) => Promise<unknown>;
const day = (time: number): Date => new Date(time);
const limit = 5;
const FILTERS = [
  {},
  ...PAYMENT_STATES.map((state) => ({ state })),
  ...([{ needed: true }, { needed: true, state: 'paid' }, { reason: 'crash_loop' }] as const),
  ...([{ state: 'paid', since: day(1000), until: day(3000) }, { until: day(50) }] as const),
  { state: ['open', 'failed'] },
] as const;
const AFTER = `${TOTAL / 2} r${TOTAL / 2} "COLLECTION"`;
const LISTS: Readonly<Record<string, Call>> = Object.fromEntries(
  [...FILTERS, ...FILTERS.map((filter) => ({ ...filter, after: AFTER }))].map((filter): [string, Call] => [
    `payments(${JSON.stringify(filter)})`,
    async (inbox) => inbox.payments({ ...filter, limit }),
  ]),
);
const CALLS: Readonly<Record<string, Call>> = {
  ...LISTS,
  'payment()': (inbox) => inbox.payment('m1'),
  'payment(), by its internal_reference': (inbox) => inbox.payment({ internal_reference: 's1' }),
  'the version that open pages follow': versionOf,
};
/** The newest 5,000 of each state are searched, and 10,000 of each are counted. */
const LONG_CALLS: Readonly<Record<string, Call>> = {
  'counts()': (inbox) => inbox.counts(),
  'payments({ search })': async (inbox) => inbox.payments({ search: 'm77', limit }),
};
const FEW = 150;

/** Controls: what no index gives. */
const SORT =
  "select reference_key from inbox.payment where account = $1 and state || '' = 'paid' order by changed_at desc limit 5";
const WALK =
  "select reference_key from inbox.payment where account = $1 and needs || '' = 'crash_loop' limit 50";

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

describe(`with ${COUNT} payments of each state, on postgres`, () => {
  const schema = `plans_${randomBytes(8).toString('hex')}`;
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 4 });
  const store = postgres(pool, { schema });
  beforeAll(async () => {
    await fill(store, FILLS);
    for (const name of ['callback', 'transition', 'payment']) await pool.query(`analyze ${schema}.${name}`);
    return async () => {
      await pool.query(`drop schema ${schema} cascade`);
      await pool.end();
    };
  });

  const visited = async (call: Call): Promise<number[]> =>
    Promise.all((await askedBy(store, call)).map((asked) => visitedBy(pool, asked)));

  test('every list, a payment and the version visit few rows', async () => {
    for (const [name, call] of Object.entries(CALLS))
      expect(Math.max(...(await visited(call))), name).toBeLessThan(FEW);
    for (const [name, call] of Object.entries(LONG_CALLS))
      expect(Math.max(...(await visited(call))), name).toBeLessThanOrEqual(TOTAL);
  });

  test.each([SORT, WALK])('it visits all of them when it asks: %s (control)', async (text) => {
    const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
    expect(await visitedBy(pool, asked)).toBeGreaterThan(TOTAL / 2);
  });
});

describe('on sqlite', () => {
  const store = sqlite(`${folderOnDisk()}/payments.db`);
  beforeAll(async () => {
    await fill(store, ['analyze']);
    return () => store.close?.();
  });
  const scansIn = async (text: string): Promise<string[]> => {
    const plan = await planOf(store, text);
    // What a list has found before it is searched.
    const isFound = plan.some((step) => /^(CO-ROUTINE|MATERIALIZE) p$/.test(step));
    const table = isFound ? /^SCAN (t|c|payment_inbox_\w+)\b/ : /^SCAN (p|t|c|payment_inbox_\w+)\b/;
    return plan.filter((step) => table.test(step));
  };

  test('what is asked about payments scans no table', async () => {
    for (const [name, call] of Object.entries({ ...CALLS, ...LONG_CALLS }))
      for (const { text } of await askedBy(store, call)) {
        // The newest 100 of all, of which those of the account count.
        const known = name.startsWith('the version') ? /^SCAN t\b/ : /^$/;
        expect(
          (await scansIn(text)).filter((step) => !known.test(step)),
          `${name}: ${text}`,
        ).toEqual([]);
      }
  });

  test.each([SORT, WALK])('it scans a table when it asks: %s (control)', async (text) => {
    const plan = await planOf(store, text.replaceAll('inbox.', store.prefix));
    expect(plan.join()).toMatch(/SCAN|SEARCH .* \(account=\?\)|TEMP B-TREE/);
  });
});

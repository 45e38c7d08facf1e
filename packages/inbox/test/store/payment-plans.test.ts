import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import {
  createInbox,
  type Inbox,
  type PaymentFilter,
  postgres,
  type Store,
  sqlite,
} from '../../src/index.ts';
import { versionOf } from '../../src/operator/version.ts';
import { PAYMENT_STATES } from '../../src/verdict/payment-state.ts';
import { type Asked, fill, numbers, planOf, visitedBy } from '../support/plans.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const STATES = ['held', 'unexpected', 'open', 'paid', 'reversed', 'failed', 'canceled'] as const;
/** Of each state. */
const COUNT = 10_000;
const TOTAL = COUNT * STATES.length;
/** As long as those of the inbox, since a mark has one. */
const KEY = `substr('${'0'.repeat(43)}' || i, length(i || '') + 1)`;
const STATE = `case i % 7 ${STATES.map((state, place) => `when ${place} then '${state}'`).join(' ')} end`;
const FILLS = [
  `insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${numbers(TOTAL)} select 't' || i, '',
    '{"merchant_reference":"m","internal_reference":"i","transaction_type":"COLLECTION","transaction_status":"COMPLETED","event":""}',
    ${KEY}, '"COLLECTION"', 's' || i, i from n`,
  `insert into inbox.transition (id, account, state, bodies, changed_at) ${numbers(TOTAL)} select i, '', 'settled', 1, i from n`,
  // Of the open ones, half are overdue. Of those that a person must look at, a few have a reason of their own.
  `insert into inbox.payment (reference_key, transaction_type, account, merchant_reference, state, needs, currency, amount, compare,
    replaced, deadline_at, settled_by, settled_at, changed_at, order_id, order_total)
  ${numbers(TOTAL)} select ${KEY}, '"COLLECTION"', '', '"m' || i || '"', ${STATE},
    case when i % 700 = 0 then 'crash_loop' when i % 7 < 2 then 'amount_mismatch' when i % 70 = 3 then 'already_settled' end,
    'UGX', '1', 'both', '[]', case when i % 2 = 0 then i else 4000000000000 end,
    case when i % 7 in (3, 4) then 't' || i end, case when i % 7 in (3, 4) then i end, i,
    case when i % 7000 = 0 then 'ORDER-7' end, case when i % 7000 = 0 then '1' end from n`,
];

type Call = (inbox: Pick<Inbox<never>, 'payment' | 'payments' | 'counts'>) => Promise<unknown>;
const day = (time: number): Date => new Date(time);
const limit = 5;
const FILTERS = [
  {},
  ...PAYMENT_STATES.map((state) => ({ state })),
  ...([
    { needed: true },
    { needed: true, state: 'paid' },
    { reason: 'crash_loop' },
    { order: 'ORDER-7' },
  ] as const),
  ...([{ state: 'paid', since: day(1000), until: day(3000) }, { until: day(50) }] as const),
  { state: ['open', 'failed'] },
] as const;
const MIDDLE = `${TOTAL / 2} ${String(TOTAL / 2).padStart(43, '0')} "COLLECTION"`;
const LISTS: Readonly<Record<string, Call>> = Object.fromEntries(
  FILTERS.flatMap((filter): PaymentFilter[] => {
    const isOverdue = 'state' in filter && filter.state === 'overdue';
    return [filter, { ...filter, after: isOverdue ? `-${MIDDLE}` : MIDDLE }];
  }).map((filter): [string, Call] => [
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
/** And one more, before the sort ends. */
const LOOKED_AT = 1001;
/** With how many rows they may visit: 1,000 payments are looked at, and 10,000 of each of six states are counted. */
const LONG_CALLS: Readonly<Record<string, readonly [Call, most: number]>> = {
  'counts()': [(inbox) => inbox.counts(), 60_000],
  'payments({ search }), nothing': [
    async (inbox) => inbox.payments({ search: 'no such part', limit }),
    LOOKED_AT,
  ],
  'payments({ search }), a whole one': [async (inbox) => inbox.payments({ search: 'M77', limit }), LOOKED_AT],
  'payments({ provider })': [
    async (inbox) => inbox.payments({ provider: 'none', state: 'paid', limit }),
    LOOKED_AT,
  ],
  'payments({ state }), of which nearly none is looked for': [
    async (inbox) => inbox.payments({ state: 'open', since: day(TOTAL - 5000), limit }),
    LOOKED_AT,
  ],
};
const FEW = 150;

/** Controls: what no index gives. */
const SORT =
  "select reference_key from inbox.payment where account = $1 and state || '' = 'paid' order by changed_at desc limit 5";
const WALK =
  "select reference_key from inbox.payment where account = $1 and needs || '' = 'crash_loop' limit 99";

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

/** Every page looks further: none is left out, and none is there twice. */
async function mustFindAll<Tx>(store: Store<Tx>): Promise<void> {
  const inbox = createInbox({ store: { ...store, close: async () => undefined } });
  const found: string[] = [];
  let pages = 0;
  for (let after: string | undefined; pages === 0 || after !== undefined; pages += 1) {
    const { items, next, lookedBackTo } = await inbox.payments({ search: 'M699', after, limit: 40 });
    found.push(...items.map(({ merchant_reference }) => merchant_reference));
    expect(lookedBackTo === undefined).toBe(next === undefined || items.length === 40);
    after = next;
  }
  const all = Array.from({ length: TOTAL }, (_, index) => `m${index + 1}`);
  expect(found).toEqual(all.filter((name) => name.startsWith('m699')).toReversed());
  expect(pages).toBeGreaterThan(3);
  const overdue = [];
  for await (const { expected } of inbox.payments({ state: 'overdue', limit: 1000 }))
    overdue.push(Number(expected?.deadline));
  expect(overdue).toHaveLength(COUNT / 2);
  expect(overdue).toEqual(overdue.toSorted((one, other) => one - other));
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
    for (const [name, [call, most]] of Object.entries(LONG_CALLS))
      expect(Math.max(...(await visited(call))), name).toBeLessThanOrEqual(most);
  });

  test('a search and a list of overdue ones have each payment once, page by page', () => mustFindAll(store));

  test.each([SORT, WALK])('it visits all of them when it asks: %s (control)', async (text) => {
    const asked = { text: text.replaceAll('inbox.', store.prefix), values: [''] };
    expect(await visitedBy(pool, asked)).toBeGreaterThan(TOTAL / 2);
  });
});

describe('on sqlite', () => {
  const store = sqlite(`${folderOnDisk()}/payments.db`);
  beforeAll(async () => {
    await fill(store, [...FILLS, 'analyze']);
    return () => store.close?.();
  });
  const scansIn = async (text: string): Promise<string[]> => {
    const plan = await planOf(store, text);
    return plan.filter((step) => /^SCAN (p|t|c|b|payment_inbox_\w+)\b/.test(step));
  };

  test('what is asked about payments scans no table', async () => {
    const long = Object.entries(LONG_CALLS).map(([name, [call]]) => [name, call] as const);
    for (const [name, call] of [...Object.entries(CALLS), ...long])
      for (const { text } of await askedBy(store, call)) {
        // The newest 100 of all, of which those of the account count.
        const known = name.startsWith('the version') ? /^SCAN t\b/ : /^$/;
        expect(
          (await scansIn(text)).filter((step) => !known.test(step)),
          `${name}: ${text}`,
        ).toEqual([]);
      }
  });

  test('a search and a list of overdue ones have each payment once, page by page', () => mustFindAll(store));

  test.each([SORT, WALK])('it scans a table when it asks: %s (control)', async (text) => {
    const plan = await planOf(store, text.replaceAll('inbox.', store.prefix));
    expect(plan.join()).toMatch(/SCAN|SEARCH .* \(account=\?\)|TEMP B-TREE/);
  });
});

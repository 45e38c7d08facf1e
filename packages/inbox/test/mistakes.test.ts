/**
 * The mistakes of a merchant's first week: what is written, the words that name it, and the words that say what to do. A row that
 * has neither is a mistake that is silent.
 */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { inboxConsole } from '../src/console/index.ts';
import { createInbox, type Inbox, postgres, sqlite } from '../src/index.ts';
import { type AnyTransaction, newMerchant } from './support/merchant.ts';
import { money } from './support/shop.ts';

interface Desk {
  readonly inbox: Inbox<AnyTransaction>;
  readonly transaction: (body: (tx: AnyTransaction) => unknown) => Promise<unknown>;
}
type Mistake = readonly [what: string, write: (desk: Desk) => unknown, named: RegExp, fix: RegExp];

/** As JavaScript would pass it. */
const any = (value: unknown) => value as never;
const open = async (connectionString: string | undefined): Promise<void> => {
  const pool = new pg.Pool({
    connectionString,
    host: connectionString === undefined ? '127.0.0.1' : undefined,
    port: 1,
  } as pg.PoolConfig);
  const inbox = createInbox({ store: postgres(pool) });
  try {
    await inbox.ready();
  } finally {
    await inbox.close();
    await pool.end();
  }
};

const MISTAKES: readonly Mistake[] = [
  ['postgres() of a client', () => postgres(any(new pg.Client())), /pool must be a pool/, /new Pool/],
  [
    'postgres() of an address',
    () => postgres(any('postgres://x')),
    /pool must be a pool.* a string/,
    /new Pool/,
  ],
  ['postgres() of nothing', () => postgres(any(undefined)), /pool must be.* undefined/, /new Pool/],
  [
    'sqlite() without a path',
    () => sqlite(any(undefined)),
    /path must be.* undefined/,
    /a file on a local disk/,
  ],
  ['createInbox() of nothing', () => createInbox(any(undefined)), /options must be an object/, /object/],
  [
    'createInbox() without a store',
    () => createInbox(any({})),
    /store must be/,
    /sqlite\(path\), postgres\(pool\)/,
  ],
  [
    'a pool in place of a store',
    () => createInbox(any({ store: new pg.Pool() })),
    /store must be/,
    /postgres\(pool\)/,
  ],
  [
    'an option that is misspelt',
    ({ inbox }) => inbox.work(any({ concurency: 2 })),
    /concurency/,
    /concurrency/,
  ],
  ['DATABASE_URL is not set', () => open(undefined), /ECONNREFUSED/, /DATABASE_URL is not set/],
  [
    'DATABASE_URL in quotation marks',
    () => open('"postgres://u:p@127.0.0.1:1/db"'),
    /ENOTFOUND/,
    /without quotation marks/,
  ],
  [
    'DATABASE_URL of a server that is not there',
    () => open('postgres://u:p@127.0.0.1:1/db'),
    /ECONNREFUSED/,
    /no server runs/,
  ],
  [
    'the transaction itself as the second argument',
    ({ inbox, transaction }) => transaction((tx) => inbox.expect(money('A'), any(tx))),
    /expect\(\)/,
    /\{ tx \}/,
  ],
  [
    'expect() in a pool',
    ({ inbox }) => inbox.expect(money('A'), { tx: any({}) }),
    /not an open transaction/,
    /that your library gives/,
  ],
  [
    'an amount with a currency',
    ({ inbox }) => inbox.expect({ ...money('A'), amount: '5000 UGX' }),
    /amount must be/,
    /"1999\.90"/,
  ],
  [
    'an amount with groups',
    ({ inbox }) => inbox.expect({ ...money('A'), amount: '5,000' }),
    /amount must be/,
    /"1999\.90"/,
  ],
  [
    'an amount that is rounded',
    ({ inbox }) => inbox.expect({ ...money('A'), amount: 0.1 + 0.2 }),
    /amount must be/,
    /15 digits/,
  ],
  ['an amount of nothing', ({ inbox }) => inbox.expect({ ...money('A'), amount: 0 }), /amount/, /above zero/],
  [
    'a deadline as text',
    ({ inbox }) => inbox.expect({ ...money('A'), deadline: any('2026-01-01') }),
    /deadline.* string/,
    /valid Date/,
  ],
  [
    'another amount under one reference',
    async ({ inbox }) => {
      await inbox.expect(money('R'));
      await inbox.expect(money('R', 700));
    },
    /another currency, amount/,
    /its own reference/,
  ],
  ['a reference with a colon', ({ inbox }) => inbox.expect(money('A:1')), /':'/, /colonIn/],
  [
    'report() of a reference',
    ({ inbox }) => inbox.report('ORD-1'),
    /transitionId/,
    /64 lower-case hexadecimal digits/,
  ],
  [
    'payment() of nothing',
    ({ inbox }) => inbox.payment(any(undefined)),
    /reference must be.* undefined/,
    /merchant_reference/,
  ],
  [
    'handle() of a status',
    ({ inbox }) => inbox.handle(any('COMPLETED'), () => undefined),
    /name must be/,
    /paid, failed, reversed, status/,
  ],
  [
    'handle() without a function',
    ({ inbox }) => inbox.handle('paid', any('x')),
    /handler must be/,
    /function/,
  ],
  [
    'a second handler',
    ({ inbox }) => {
      inbox.handle('paid', () => undefined);
      inbox.handle('paid', () => undefined);
    },
    /already has a handler/,
    /paid/,
  ],
  [
    'a list of a state that does not exist',
    ({ inbox }) => inbox.payments(any({ state: 'settled' })),
    /state must be/,
    /paid/,
  ],
  [
    'an act that no payment offers',
    ({ inbox }) => inbox.act(any({}), any({})),
    /act must be/,
    /payment\(\) returned/,
  ],
  [
    'prune() of a date',
    ({ inbox }) => inbox.prune(any({ bodiesOlderThanDays: new Date() })),
    /bodiesOlderThanDays/,
    /whole number/,
  ],
  [
    'a console without access rules',
    ({ inbox }) => inboxConsole(inbox, any({})),
    /authorize must be/,
    /who a visitor is/,
  ],
  [
    'a console of something else',
    () => inboxConsole(any({}), { authorize: () => false }),
    /inbox must be/,
    /createInbox\(\)/,
  ],
  [
    'a statement by one who is not named',
    ({ inbox }) => inbox.reconcileStatement([], any({ from: new Date(), to: new Date(), note: 'x' })),
    /by/,
    /who acts/,
  ],
  [
    'an error of SQL that is caught',
    ({ inbox, transaction }) =>
      transaction(async (tx) => {
        await tx.query('select * from nothing').catch(() => undefined);
        await inbox.expect(money('S'), { tx });
      }),
    /transaction is aborted.* an earlier statement in it failed/,
    /Let that error leave/,
  ],
];

describe('a mistake is named with its fix', () => {
  test.each(MISTAKES)('%s', async (_what, write, named, fix) => {
    const merchant = await newMerchant('postgres');
    const inbox = merchant.open();
    await inbox.ready();
    const desk = {
      inbox,
      transaction: (body: (tx: AnyTransaction) => unknown) =>
        merchant.transaction(async (tx) => body(tx) as never),
    };
    const error = await (async () => write(desk))().then(
      () => 'silent',
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toMatch(named);
    expect(String(error)).toMatch(fix);
  });
});

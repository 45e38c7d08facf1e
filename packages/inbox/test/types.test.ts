import type { UnsignedFields } from '@payment-service/core';
import { deliver } from '@payment-service/core/testing';
import type { Pool, PoolClient } from 'pg';
import { expectTypeOf, test } from 'vitest';
import type {
  AnyInbox,
  Inbox,
  Payment,
  PostgresClient,
  Settled,
  SqliteTransaction,
  Store,
} from '../src/index.ts';
import { createInbox, postgres, sqlite } from '../src/index.ts';
import type { PostgresPool } from '../src/store/postgres/connection.ts';

// What must compile, and what must not; `pnpm typecheck` is the test.
test('the public types of the inbox accept correct programs, and refuse wrong ones', () => {
  expectTypeOf(uses).toBeFunction();
  expectTypeOf(sqlite).returns.toEqualTypeOf<Store<SqliteTransaction>>();
  expectTypeOf<Pool>().toExtend<PostgresPool>();
  expectTypeOf<PoolClient>().toExtend<PostgresClient>();
  expectTypeOf<Inbox<SqliteTransaction>>().toExtend<AnyInbox>();
  expectTypeOf<Inbox<PoolClient>>().toExtend<AnyInbox & AsyncDisposable>();
  expectTypeOf<AnyInbox>().not.toHaveProperty('handle');
  expectTypeOf<AnyInbox>().not.toHaveProperty('transaction');
});

async function uses(inbox: Inbox<SqliteTransaction>, pool: Pool): Promise<void> {
  inbox.handle('paid', ({ payment: { settled }, claimed, tx }) => {
    expectTypeOf(settled).toEqualTypeOf<Settled>();
    expectTypeOf(claimed).toEqualTypeOf<UnsignedFields>();
    expectTypeOf(tx).toEqualTypeOf<SqliteTransaction>();
  });
  inbox.handle('paid', ({ payment: { settled } }) => expectTypeOf(settled).toEqualTypeOf<Settled>(), {
    type: 'PAYOUT',
  });
  inbox.handle('status', ({ payment: { settled } }) =>
    expectTypeOf(settled).toEqualTypeOf<Settled | undefined>(),
  );
  // @ts-expect-error settled may be undefined
  inbox.handle('failed', ({ payment: { settled } }) => settled.amount);
  // @ts-expect-error a handler sees no body
  inbox.handle('paid', ({ body }) => body);

  // Handlers receive the client of the pool.
  createInbox({ store: postgres(pool) }).handle('paid', ({ tx }) =>
    expectTypeOf(tx).toEqualTypeOf<PoolClient>(),
  );

  const given = inbox.transaction(async (tx) => {
    expectTypeOf(tx).toEqualTypeOf<SqliteTransaction>();
    return 7;
  });
  expectTypeOf(given).toEqualTypeOf<Promise<number>>();
  // @ts-expect-error a tx has no commit()
  await inbox.transaction((tx) => tx.commit());
  // @ts-expect-error a reference is a string
  await inbox.reports({ merchant_reference: 1001 });
  // @ts-expect-error a redirect or a parsed body proves nothing
  await inbox.route.onCallback({ signed: {}, unsigned: {} });
  const note = { by: 'dana', note: 'all' };
  // @ts-expect-error a selection needs a reason
  await inbox.actAll('retry', { until: new Date() }, note);
  // @ts-expect-error an act needs the name of an operator
  await inbox.actAll('retry', { reason: 'attempts_used_up', until: new Date() }, { note: 'all' });
  // @ts-expect-error an amount is accepted for one payment, by someone who has seen it
  await inbox.actAll('accept', { reason: 'amount_mismatch', until: new Date() }, note);
  // @ts-expect-error an act is one of those that a payment offers, and not its name
  await inbox.act('accept', note);

  expectTypeOf(
    deliver(inbox, { merchant_reference: 'ORD-1', amount: 500 }),
  ).resolves.toEqualTypeOf<Payment>();
  // @ts-expect-error an inbox of any store has no transaction to write in
  await (inbox as AnyInbox).expect(ORDER, { tx: pool });
  await (inbox as AnyInbox).expect(ORDER, { replace: note });
}

const ORDER = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };

import type { UnsignedFields } from '@payment-service/core';
import type { Pool, PoolClient } from 'pg';
import { expectTypeOf, test } from 'vitest';
import type { Inbox, PostgresClient, PostgresPool, Settled, SqliteTransaction, Store } from '../src/index.ts';
import { createInbox, postgres, sqlite } from '../src/index.ts';

// What must compile, and what must not; `pnpm typecheck` is the test.
test('the public types of the inbox accept correct programs, and refuse wrong ones', () => {
  expectTypeOf(uses).toBeFunction();
  expectTypeOf(sqlite).returns.toEqualTypeOf<Store<SqliteTransaction>>();
  expectTypeOf<Pool>().toExtend<PostgresPool>();
  expectTypeOf<PoolClient>().toExtend<PostgresClient>();
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
  // @ts-expect-error a selection needs a state
  await inbox.retry({}, { by: 'dana', note: 'all' });
  // @ts-expect-error an action needs the name of an operator
  await inbox.retry({ state: 'dead' }, { note: 'all' });
}

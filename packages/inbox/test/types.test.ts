import type { UnsignedFields } from '@payment-service/core';
import type { Pool, PoolClient } from 'pg';
import { expectTypeOf, it } from 'vitest';
import {
  createInbox,
  type Inbox,
  type PostgresClient,
  type PostgresPool,
  postgres,
  type Settled,
  type SqliteTransaction,
  type Store,
  sqlite,
} from '../src/index.ts';

// What must compile, and what must not; `pnpm typecheck` is the test.
it('a handler of completed transactions always has settled; with a status it may not', () => {
  const uses = (inbox: Inbox<SqliteTransaction>): void => {
    inbox.handle(({ settled, claimed, tx }) => {
      expectTypeOf(settled).toEqualTypeOf<Settled>();
      expectTypeOf(claimed).toEqualTypeOf<UnsignedFields>();
      expectTypeOf(tx).toEqualTypeOf<SqliteTransaction>();
    });
    inbox.handle(({ settled }) => expectTypeOf(settled).toEqualTypeOf<Settled>(), { type: 'PAYOUT' });
    inbox.handle(({ settled }) => expectTypeOf(settled).toEqualTypeOf<Settled | undefined>(), {
      status: '*',
    });
    // @ts-expect-error settled may be undefined
    inbox.handle(({ settled }) => settled.amount, { status: 'FAILED' });
    // @ts-expect-error a handler sees no body
    inbox.handle(({ body }) => body);
  };
  expectTypeOf(uses).toBeFunction();
});

it('the pool and the client of pg fit, without the package, and the client is what handlers get', () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>();
  expectTypeOf<PoolClient>().toExtend<PostgresClient>();
  const uses = (pool: Pool): void => {
    createInbox({ store: postgres(pool) }).handle(({ tx }) => expectTypeOf(tx).toEqualTypeOf<PoolClient>());
  };
  expectTypeOf(uses).toBeFunction();
});

it('transaction() gives the tx of the store, and what its body gives', () => {
  const uses = (inbox: Inbox<SqliteTransaction>): void => {
    const given = inbox.transaction(async (tx) => {
      expectTypeOf(tx).toEqualTypeOf<SqliteTransaction>();
      return 7;
    });
    expectTypeOf(given).toEqualTypeOf<Promise<number>>();
    // @ts-expect-error a tx has no commit()
    void inbox.transaction((tx) => tx.commit());
    // @ts-expect-error a reference is a text
    void inbox.list({ merchant_reference: 1001 });
  };
  expectTypeOf(uses).toBeFunction();
});

it('receive() takes verified callbacks only, and a bulk action a state', () => {
  const uses = async (inbox: Inbox<SqliteTransaction>): Promise<void> => {
    // @ts-expect-error a redirect or a parsed body proves nothing
    await inbox.receive({ signed: {}, unsigned: {} });
    // @ts-expect-error everything is no selection
    await inbox.retry({}, { by: 'dana', note: 'all' });
    // @ts-expect-error nobody acts without a name
    await inbox.retry({ state: 'dead' }, { note: 'all' });
  };
  expectTypeOf(uses).toBeFunction();
  expectTypeOf(sqlite).returns.toEqualTypeOf<Store<SqliteTransaction>>();
});

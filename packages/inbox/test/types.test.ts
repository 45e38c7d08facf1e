import type { Pool, PoolClient } from 'pg';
import { expectTypeOf, it } from 'vitest';
import {
  createInbox,
  type Inbox,
  type PostgresPool,
  type PostgresTransaction,
  type Settled,
  type SqliteTransaction,
  sqlite,
} from '../src/index.ts';

// What must compile, and what must not; `pnpm typecheck` is the test.
it('a handler without statuses always has settled; with statuses it may not', () => {
  const uses = (inbox: Inbox<SqliteTransaction>): void => {
    inbox.handle(({ settled, tx }) => {
      expectTypeOf(settled).toEqualTypeOf<Settled>();
      expectTypeOf(tx).toEqualTypeOf<SqliteTransaction>();
    });
    inbox.handle(({ settled }) => expectTypeOf(settled).toEqualTypeOf<Settled | undefined>(), {
      statuses: ['X'],
    });
    // @ts-expect-error settled may be undefined
    inbox.handle(({ settled }) => settled.amount, { statuses: ['COMPLETED', 'FAILED'] });
    // @ts-expect-error a handler sees no body
    inbox.handle(({ body }) => body);
  };
  expectTypeOf(uses).toBeFunction();
});

it('the pool and the client of pg fit, without the package', () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>();
  expectTypeOf<PoolClient>().toExtend<PostgresTransaction>();
});

it('transaction() gives the tx of the store, and what its body gives', () => {
  const uses = (inbox: Inbox<SqliteTransaction>): void => {
    const given = inbox.transaction(async (tx) => {
      expectTypeOf(tx).toEqualTypeOf<SqliteTransaction>();
      return 7;
    });
    expectTypeOf(given).toEqualTypeOf<Promise<number>>();
    expectTypeOf(inbox.transaction(() => 'text')).toEqualTypeOf<Promise<string>>();
    // @ts-expect-error a tx has no commit()
    void inbox.transaction((tx) => tx.commit());
    // @ts-expect-error a reference is a text
    void inbox.list({ merchant_reference: 1001 });
  };
  expectTypeOf(uses).toBeFunction();
});

it('receive() takes verified callbacks only', () => {
  const uses = (inbox: Inbox<SqliteTransaction>): unknown => {
    // @ts-expect-error a redirect or a parsed body proves nothing
    return inbox.receive({ signed: {}, unsigned: {} });
  };
  expectTypeOf(uses).toBeFunction();
  expectTypeOf(createInbox<SqliteTransaction>)
    .parameter(0)
    .toHaveProperty('store');
  expectTypeOf(sqlite).returns.toHaveProperty('open');
});

import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import type { Inbox, InboxOptions } from '../../src/index.ts';
import { evidence, paid } from '../support/callbacks.ts';
import {
  type AnyTransaction,
  ENGINES,
  type EngineName,
  type Merchant,
  newMerchant,
} from '../support/merchant.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const ORDER = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };

describe.each(ENGINES)('transaction() on %s', (engine) => {
  it('commits an order and its expectation together, and gives what the body gives', async () => {
    const { merchant, inbox } = await shop(engine);
    const given = await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      const { rows, rowCount } = await tx.query('select reference from credit');
      return { rows, rowCount };
    });
    expect(given).toEqual({ rows: [{ reference: 'order' }], rowCount: 1 });
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([
      { reference: 'ORD-1', amount: '500' },
      { reference: 'order', amount: '500' },
    ]);
  });

  it('waits for ready() by itself, and takes a body that is no promise', async () => {
    const merchant = await newMerchant(engine);
    expect(await merchant.open().transaction(() => 7)).toBe(7);
  });

  it('wakes the worker for what it expects', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('ORD-1', 500));
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, pollMs: 1_000_000 });
    await until(async () => (await inbox.stats()).states.unhandled === 1);
    await inbox.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      await pause(100);
    });
    await until(async () => (await merchant.credits()).length === 1);
    stop.abort();
    await working;
  });

  it.each([
    ['an error of the merchant', new Error('no such customer')],
    ['a value that is no error', 'no'],
    ['nothing', undefined],
  ])('rolls back when the body throws, and throws %s on', async (_name, thrown) => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      throw thrown;
    });
    expect(await failed.then(() => 'committed', same)).toBe(thrown);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('throws the error of an expectation that is refused, and the order goes with it', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '700');
      await inbox.expect({ ...ORDER, amount: '700' }, { tx });
    });
    await expect(failed).rejects.toMatchObject({ option: 'merchant_reference' });
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('throws what only the commit refuses, and keeps nothing', async () => {
    const { merchant, inbox } = await shop(engine);
    await merchant.query('create table parent (id integer primary key)');
    await merchant.query(
      'create table child (id integer references parent (id) deferrable initially deferred)',
    );
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await tx.query('insert into child values (1)');
    });
    await expect(failed).rejects.toThrow(/foreign key/i);
    expect(await merchant.credits()).toEqual([]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it.each(['commit', '/* done */ Rollback', 'savepoint x', 'begin', 7])(
    'refuses transaction control, and what is no text: %j',
    async (text) => {
      const { merchant, inbox } = await shop(engine);
      let error: unknown;
      await inbox.transaction(async (tx) => {
        await merchant.credit(tx, 'order', '500');
        error = await Reflect.apply(tx.query, tx, [text]).catch(same);
      });
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ option: 'text' });
      expect(await merchant.credits()).toHaveLength(1);
    },
  );

  it('refuses several statements in one text', async () => {
    const { merchant, inbox } = await shop(engine);
    const text = "select 1; commit; insert into credit values ('x', '1')";
    await expect(inbox.transaction((tx) => tx.query(text))).rejects.toThrow();
    expect(await merchant.credits()).toEqual([]);
  });

  it('its tx is of no use after it', async () => {
    const { merchant, inbox } = await shop(engine);
    const kept = await inbox.transaction((tx) => ({ tx }));
    await expect(merchant.credit(kept.tx, 'late', '1')).rejects.toThrow(ConfigurationError);
    await expect(inbox.expect(ORDER, kept)).rejects.toThrow(ConfigurationError);
    expect(await merchant.credits()).toEqual([]);
  });

  it('what the body starts at once, or does not wait for, belongs to it', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.transaction((tx) => {
      for (const reference of ['a', 'b', 'c']) void merchant.credit(tx, reference, '1');
    });
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['a', 'b', 'c']);
  });

  it('a statement that fails while nobody waits for it undoes the transaction', async () => {
    const { merchant, inbox } = await shop(engine);
    const failed = inbox.transaction((tx) => {
      void merchant.credit(tx, 'order', '1');
      void tx.query('insert into no_such_table values (1)');
      void tx.query("insert into credit values ('order', '2')");
    });
    await expect(failed).rejects.toThrow(/no_such_table/);
    expect(await merchant.credits()).toEqual([]);
  });

  it('a body that does not end is rolled back, and keeps nobody waiting', async () => {
    const { merchant, inbox } = await shop(engine, { handlerTimeoutMs: 150 });
    await inbox.ready();
    const [isLate, mayGoOn] = [signal(), signal()];
    let late: unknown;
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await mayGoOn.promise;
      late = await merchant.credit(tx, 'late', '1').catch(same);
      isLate.give();
    });
    await expect(failed).rejects.toThrow(/transaction\(\) did not end within handlerTimeoutMs \(150 ms\)/);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    mayGoOn.give();
    await isLate.promise;
    expect(late).toBeInstanceOf(ConfigurationError);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('neither does a statement that does not end', async () => {
    const { merchant, inbox } = await shop(engine, { handlerTimeoutMs: 150, storeTimeoutMs: 150 });
    await inbox.ready();
    let hasEnded = false;
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      const statement = tx.query(LONG_STATEMENT[engine]);
      statement.then(
        () => {
          hasEnded = true;
        },
        () => undefined,
      );
      // These wait for it in vain.
      for (let count = 0; count < 20; count += 1) void tx.query(LONG_STATEMENT[engine]);
      await statement;
    });
    await expect(failed).rejects.toThrow(/handlerTimeoutMs|statement timeout/);
    expect(hasEnded).toBe(false);
    // On SQLite its statement runs on, and cannot be interrupted.
    await until(() =>
      inbox
        .transaction((tx) => merchant.credit(tx, 'next', '1'))
        .then(
          () => true,
          () => false,
        ),
    );
    expect(await merchant.credits()).toEqual([{ reference: 'next', amount: '1' }]);
  });

  it('takes its turn with handlers, callbacks and others of its kind', async () => {
    const { merchant, inbox } = await shop(engine);
    const references = Array.from({ length: 20 }, (_each, index) => `ORD-${index}`);
    const stop = startWork(inbox);
    await Promise.all(
      references.map(async (reference) => {
        await inbox.transaction(async (tx) => {
          await merchant.credit(tx, `order of ${reference}`, '500');
          await inbox.expect({ ...ORDER, merchant_reference: reference }, { tx });
        });
        await inbox.receive(paid(reference, 500));
      }),
    );
    await until(async () => (await inbox.stats()).states.settled === 20);
    await stop();
    expect(await merchant.credits()).toHaveLength(40);
  });

  it('shows nobody else what is not committed', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      expect(await inbox.list()).toMatchObject([{ state: 'unhandled' }]);
      expect((await inbox.stats()).states).toMatchObject({ unhandled: 1, pending: 0 });
      expect(await merchant.credits()).toEqual([]);
    });
    expect(await inbox.list()).toMatchObject([{ state: 'pending' }]);
  });

  it('refuses another one inside it, and inside a handler', async () => {
    const { merchant, inbox } = await shop(engine);
    let inner: unknown;
    await inbox.transaction(async (tx) => {
      inner = await inbox.transaction(() => 1).catch(same);
      await inbox.expect(ORDER, { tx });
    });
    expect(inner).toBeInstanceOf(ConfigurationError);
    expect(inner).toMatchObject({ option: 'tx' });
    const other = merchant.open();
    let inHandler: unknown;
    other.handle(async () => {
      inHandler = await other.transaction(() => 1).catch(same);
    });
    await other.receive(paid('ORD-1', 500));
    await workOff(other, merchant.clock.now);
    expect(inHandler).toBeInstanceOf(ConfigurationError);
    expect(inHandler).toMatchObject({ option: 'tx' });
  });

  it('refuses inside it what could wait for it', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    const { transitionId } = paid('ORD-1', 500);
    await inbox.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      const calls = [
        () => inbox.expect(ORDER),
        () => inbox.retry(transitionId),
        () => inbox.reopen(transitionId),
        () => inbox.resolve(transitionId, { note: 'closed' }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ option: 'tx' });
    });
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });

  it('refuses nothing to what was started in it and goes on after it', async () => {
    const { merchant, inbox } = await shop(engine);
    const isOver = signal();
    let later: Promise<void> | undefined;
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      later = isOver.promise.then(() => inbox.expect(ORDER));
    });
    isOver.give();
    await later;
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(2);
  });

  it('close() waits for it, and lets none begin', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.ready();
    const [isRunning, mayEnd] = [signal(), signal()];
    const committed = inbox.transaction(async (tx) => {
      isRunning.give();
      await mayEnd.promise;
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
    });
    await isRunning.promise;
    const closed = inbox.close();
    await pause(20);
    mayEnd.give();
    await closed;
    await committed;
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.transaction(() => 1)).rejects.toThrow(/closed/);
  });

  it('takes a function and nothing else', async () => {
    const { inbox } = await shop(engine);
    const call = Reflect.apply(inbox.transaction, undefined, ['insert …']);
    await expect(call).rejects.toMatchObject({ option: 'body' });
  });

  it('expect() with a tx before ready() is refused at once, and says what to call', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const refused = merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(/ready\(\)/);
    await inbox.ready();
    await merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
    await inbox.receive(paid('ORD-1', 500));
    inbox.handle(() => undefined);
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });
});

describe('transaction() on sqlite only', () => {
  it('refuses inside it everything that writes to the inbox by itself', async () => {
    const { inbox } = await shop('sqlite');
    await inbox.transaction(async () => {
      const calls = [
        () => inbox.receive(paid('ORD-1', 500)),
        () => inbox.quarantine(evidence('ambiguous')),
        () => inbox.prune(),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ option: 'tx' });
    });
    expect(await inbox.list()).toEqual([]);
  });

  it('goes on after a statement that failed, as SQLite does', async () => {
    const { merchant, inbox } = await shop('sqlite');
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'before', '1');
      await tx.query('insert into no_such_table values (1)').catch(same);
      await merchant.credit(tx, 'after', '1');
    });
    expect(await merchant.credits()).toHaveLength(2);
  });

  it('a statement that ends the transaction ends it for all that comes after it', async () => {
    const { merchant, inbox } = await shop('sqlite');
    await merchant.query('create table once (id integer primary key); insert into once values (1)');
    await merchant.query('insert into once values (1)');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'before', '1');
      await tx.query('insert or rollback into once values (1)').catch(same);
      await merchant.credit(tx, 'after', '1').catch(same);
    });
    await expect(failed).rejects.toThrow(/rolled this transaction back/);
    expect(await merchant.credits()).toEqual([]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('and so for a handler: what it did is applied once', async () => {
    const { merchant, inbox } = await shop('sqlite', {}, async ({ tx, attempt }) => {
      if (attempt === 1) await tx.query('insert or rollback into once values (1)').catch(same);
      await merchant.credit(tx, 'ORD-1', '500').catch(same);
    });
    await merchant.query('create table once (id integer primary key)');
    await merchant.query('insert into once values (1)');
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    await stop();
    expect(await merchant.credits()).toEqual([]);
    merchant.clock.advance(60_000);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

describe('transaction() on postgres only', () => {
  it('keeps what is received inside it, whatever becomes of it', async () => {
    const { inbox } = await shop('postgres');
    const failed = inbox.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      await inbox.receive(paid('ORD-1', 500));
      await inbox.quarantine(evidence('ambiguous'));
      await inbox.prune();
      throw new Error('undo');
    });
    await expect(failed).rejects.toThrow('undo');
    expect(await inbox.list()).toHaveLength(2);
  });

  it('does not pretend to have committed when a statement had failed and the body went on', async () => {
    const { merchant, inbox } = await shop('postgres');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      await tx.query('insert into no_such_table values (1)').catch(same);
    });
    await expect(failed).rejects.toThrow(/rolled this transaction back/);
    expect(await merchant.credits()).toEqual([]);
    expect((await inbox.overdue()).length).toBe(0);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it("throws the body's own error when the connection is gone, and uses another one", async () => {
    const { merchant, inbox } = await shop('postgres');
    const own = new Error('no such customer');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      const { rows } = await tx.query('select pg_backend_pid() as id');
      await merchant.query('select pg_terminate_backend($1)', [Number(rows[0]?.['id'])]);
      await pause(50);
      throw own;
    });
    expect(await failed.catch(same)).toBe(own);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toEqual([{ reference: 'next', amount: '1' }]);
  });

  it('throws what the commit meets when the connection is gone', async () => {
    const { merchant, inbox } = await shop('postgres');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      const { rows } = await tx.query('select pg_backend_pid() as id');
      await merchant.query('select pg_terminate_backend($1)', [Number(rows[0]?.['id'])]);
      await pause(50);
    });
    await expect(failed).rejects.toThrow();
    expect(await merchant.credits()).toEqual([]);
  });
});

/** Longer than the time limit of its test, and not for ever: SQLite cannot be interrupted. */
const LONG_STATEMENT = {
  postgres: 'select pg_sleep(20)',
  sqlite:
    'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000000) select count(*) from n',
} as const;

const same = (error: unknown): unknown => error;

type Handler = Parameters<Inbox<AnyTransaction>['handle']>[0];

async function shop(
  engine: EngineName,
  options: Partial<InboxOptions<AnyTransaction>> = {},
  handler?: Handler,
): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  inbox.handle(
    handler ?? (({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount)),
  );
  return { merchant, inbox };
}

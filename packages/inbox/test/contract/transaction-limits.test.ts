import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { expectNextCredit } from '../support/next-credit.ts';
import { newShop, ORDER } from '../support/shop.ts';
import { signal } from '../support/until.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('limits of transaction() on %s', (engine) => {
  it.each(['commit', '/* done */ Rollback', 'savepoint x', 'begin', 7])(
    'refuses transaction control, and what is no text: %j',
    async (text) => {
      const { merchant, inbox } = await newShop(engine);
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
    const { merchant, inbox } = await newShop(engine);
    const text = "select 1; commit; insert into credit values ('x', '1')";
    await expect(inbox.transaction((tx) => tx.query(text))).rejects.toThrow();
    expect(await merchant.credits()).toEqual([]);
  });

  it('its tx is of no use after it', async () => {
    const { merchant, inbox } = await newShop(engine);
    const kept = await inbox.transaction((tx) => ({ tx }));
    await expect(merchant.credit(kept.tx, 'late', '1')).rejects.toThrow(ConfigurationError);
    await expect(inbox.expect(ORDER, kept)).rejects.toThrow(ConfigurationError);
    expect(await merchant.credits()).toEqual([]);
  });

  it('what the body starts at once, or does not wait for, belongs to it', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.transaction((tx) => {
      for (const reference of ['a', 'b', 'c']) void merchant.credit(tx, reference, '1');
    });
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['a', 'b', 'c']);
  });

  it('a statement that fails while nobody waits for it undoes the transaction', async () => {
    const { merchant, inbox } = await newShop(engine);
    const failed = inbox.transaction((tx) => {
      void merchant.credit(tx, 'order', '1');
      void tx.query('insert into no_such_table values (1)');
      void tx.query("insert into credit values ('order', '2')");
    });
    await expect(failed).rejects.toThrow(/no_such_table/);
    expect(await merchant.credits()).toEqual([]);
  });

  it('a body that does not end is rolled back, and keeps nobody waiting', async () => {
    const { merchant, inbox } = await newShop(engine, { handlerTimeoutMs: 150 });
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
    await workOff(inbox);
    mayGoOn.give();
    await isLate.promise;
    expect(late).toBeInstanceOf(ConfigurationError);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('neither does a statement that does not end', async () => {
    const { merchant, inbox } = await newShop(engine, { handlerTimeoutMs: 150, storeTimeoutMs: 150 });
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
    await expectNextCredit(merchant, inbox);
  });
});

/** Longer than the time limit of its test, and not for ever: SQLite cannot be interrupted. */
const LONG_STATEMENT = {
  postgres: 'select pg_sleep(20)',
  sqlite:
    'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000000) select count(*) from n',
} as const;

const same = (error: unknown): unknown => error;

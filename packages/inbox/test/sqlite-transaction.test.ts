import { describe, expect, it } from 'vitest';
import { evidence, paid } from './support/callbacks.ts';
import { newShop, ORDER } from './support/shop.ts';
import { until } from './support/until.ts';
import { startWork, workOff } from './support/working.ts';

describe('transaction() on sqlite only', () => {
  it('refuses inside it everything that writes to the inbox by itself', async () => {
    const { inbox } = await newShop('sqlite');
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
    const { merchant, inbox } = await newShop('sqlite');
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'before', '1');
      await tx.query('insert into no_such_table values (1)').catch(same);
      await merchant.credit(tx, 'after', '1');
    });
    expect(await merchant.credits()).toHaveLength(2);
  });

  it('a statement that ends the transaction ends it for all that comes after it', async () => {
    const { merchant, inbox } = await newShop('sqlite');
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
    const { merchant, inbox } = await newShop('sqlite', {}, async ({ tx, attempt }) => {
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
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

const same = (error: unknown): unknown => error;

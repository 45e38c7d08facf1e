import { describe, expect, it } from 'vitest';
import { evidence, paid } from './support/callbacks.ts';
import { newShop, ORDER } from './support/shop.ts';
import { pause } from './support/until.ts';

describe('transaction() on postgres only', () => {
  it('keeps what is received inside it, whatever becomes of it', async () => {
    const { inbox } = await newShop('postgres');
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
    const { merchant, inbox } = await newShop('postgres');
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
    const { merchant, inbox } = await newShop('postgres');
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
    const { merchant, inbox } = await newShop('postgres');
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

const same = (error: unknown): unknown => error;

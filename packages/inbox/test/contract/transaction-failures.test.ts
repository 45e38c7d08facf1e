import { describe, expect, it } from 'vitest';
import { ENGINES, type Merchant } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';

describe.each(ENGINES)('after a transaction() that failed on %s', (engine) => {
  it('the next one begins, although a statement that fails was still under way', async () => {
    const { merchant, inbox } = await newShop(engine);
    const duplicate = await onceTable(merchant);
    for (let round = 0; round < 20; round += 1) {
      const failed = inbox.transaction((tx) =>
        Promise.all([tx.query(duplicate), tx.query(duplicate), tx.query(duplicate)]),
      );
      const next = inbox.transaction((tx) => merchant.credit(tx, `next ${round}`, '1'));
      const [first, second] = await Promise.allSettled([failed, next]);
      expect([first.status, second]).toEqual(['rejected', { status: 'fulfilled', value: undefined }]);
    }
    expect(await merchant.credits()).toHaveLength(20);
  });

  it('nor does it matter that the body did not wait for that statement', async () => {
    const { merchant, inbox } = await newShop(engine);
    const duplicate = await onceTable(merchant);
    for (let round = 0; round < 20; round += 1) {
      const failed = inbox.transaction(async (tx) => {
        tx.query(duplicate).catch(() => undefined);
        for (let turn = 0; turn < 3; turn += 1) await null;
        throw new Error('of the body');
      });
      const next = inbox.transaction((tx) => merchant.credit(tx, `next ${round}`, '1'));
      const [first, second] = await Promise.allSettled([failed, next]);
      expect([first.status, second]).toEqual(['rejected', { status: 'fulfilled', value: undefined }]);
    }
    expect(await merchant.credits()).toHaveLength(20);
  });
});

/** @returns a statement that fails. */
async function onceTable(merchant: Merchant): Promise<string> {
  await merchant.query('create table once (id integer primary key)');
  await merchant.query('insert into once values (1)');
  return 'insert into once values (1)';
}

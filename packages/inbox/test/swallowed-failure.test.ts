import { expect, it } from 'vitest';
import { ENGINES, newMerchant } from './support/merchant.ts';

it.each(ENGINES)(
  'transaction() rejects when its body hides a statement that failed, on %s',
  async (engine) => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const hidden = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'ORD-1', '500');
      await tx.query('no statement').catch(() => undefined);
    });
    await expect(hidden).rejects.toThrow(/transaction/);
    expect(await merchant.credits()).toEqual([]);

    // Control: without the failure, the same transaction is committed.
    await inbox.transaction((tx) => merchant.credit(tx, 'ORD-1', '500'));
    expect(await merchant.credits()).toHaveLength(1);
  },
);

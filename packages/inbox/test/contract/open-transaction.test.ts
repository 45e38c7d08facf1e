/** `expect()` in something that is no open transaction would keep what a rolled back order expects. */
import { expect, test } from 'vitest';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { money } from '../support/shop.ts';

test.each(ENGINES)(
  'expect() on %s refuses a database, a pool, an ended transaction and an object of another library, and keeps nothing',
  async (engine) => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    await inbox.ready();
    let ended: AnyTransaction | undefined;
    await merchant.transaction(async (tx) => {
      ended = tx;
    });
    // A client of pg has a method of this name; a database, a pool and other libraries do not, or commit each statement.
    const pool = {
      query: (text: string, values: unknown[]) =>
        merchant.query(text, values as never).then((rows) => ({ rows })),
    };
    const others = [ended, {}, { execute: () => [] }, ...(engine === 'postgres' ? [pool] : [])];
    for (const tx of others)
      await expect(inbox.expect(money('A'), { tx: tx as AnyTransaction })).rejects.toMatchObject({
        name: 'ConfigurationError',
        option: 'tx',
      });
    expect(await inbox.payment('A')).toBeUndefined();
    await merchant.transaction((tx) => inbox.expect(money('A'), { tx }));
    expect(await inbox.payment('A')).toMatchObject({ state: 'open' });
  },
);

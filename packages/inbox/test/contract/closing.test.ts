import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';

describe.each(ENGINES)('close() on %s', (engine) => {
  it('may be called twice, at once and later', async () => {
    const { inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await inbox.transaction((tx) => tx.query('select 1'));
    await Promise.all([inbox.close(), inbox.close()]);
    await inbox.close();
    await expect(inbox.receive(paid('ORD-2', 500))).rejects.toThrow(/closed/);
  });
});

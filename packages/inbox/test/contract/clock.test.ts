import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('clocks on %s', (engine) => {
  it('a clock with fractions of a millisecond is as good as another', async () => {
    const merchant = await newMerchant(engine);
    const now = (): number => merchant.clock.now() + 0.25;
    const inbox = merchant.open({ now, spool: join(temporaryFolder(), 'spool.db') });
    inbox.handle(({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount));
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox, now);
    expect(await merchant.credits()).toHaveLength(1);
    expect(await inbox.health()).toMatchObject({ ok: true });
  });
});

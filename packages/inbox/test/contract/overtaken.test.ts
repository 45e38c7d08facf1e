import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newDueShop, ORDER } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('what changes while a handler runs, on %s', (engine) => {
  it('a handler that changes the expectation it settles fails as any other, and keeps nobody waiting', async () => {
    const { merchant, inbox } = await newDueShop(engine, { retry: { attempts: 3 } });
    const runs: string[] = [];
    inbox.handle(async ({ tx, signed, settled }) => {
      runs.push(signed.merchant_reference);
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (signed.merchant_reference === 'ORD-1') await inbox.expect({ ...ORDER, amount: '600' }, { tx });
    });
    await inbox.expect({ ...ORDER, merchant_reference: 'ORD-2' });
    await inbox.receive(paid('ORD-2', 500));
    await workOff(inbox);
    expect(runs.toSorted()).toEqual(['ORD-1', 'ORD-2']);
    expect(await inbox.list({ state: 'retrying' })).toMatchObject([
      { attempts: 1, lastError: expect.stringContaining('must not change the expectation') },
    ]);
    for (let round = 0; round < 2; round += 1) {
      await merchant.clock.advance(60_000);
      await workOff(inbox);
    }
    expect(await inbox.list({ state: 'dead' })).toMatchObject([{ attempts: 3, reason: 'attempts_used_up' }]);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-2', amount: '500' }]);
    expect(await merchant.query(`select * from ${merchant.table('start')} where starts > 3`)).toEqual([]);
  });

  it('what a clock that was ahead has put off is worked on when it is right again', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    inbox.handle(({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount));
    const year = 365 * 86_400_000;
    const ahead = merchant.open({ now: () => merchant.clock.now() + year });
    await ahead.expect(ORDER);
    await ahead.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('a transition that waits for its next attempt is not brought forward', async () => {
    const { merchant, inbox } = await newDueShop(engine, { retry: { firstDelayMs: 3_600_000 } });
    let runs = 0;
    inbox.handle(() => {
      runs += 1;
      throw new Error('not now');
    });
    await workOff(inbox);
    await workOff(inbox);
    expect(runs).toBe(1);
  });
});

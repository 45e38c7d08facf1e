import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { actOnReport, DAY_MS, LATER, money, newShop, order, REPLACE } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

describe.each(ENGINES)('prune() on %s', (engine) => {
  test('removes bodies after 90 days, or a year where an operator may need them, and payments can still be applied', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    for (const reference of ['SETTLED', 'FORGED']) await inbox.expect(money(reference));
    for (const reference of ['SETTLED', 'FORGED', 'UNHANDLED', 'RESOLVED', 'REPEATED', 'REPEATED'])
      await pay(reference, 500.5);
    await pay('SETTLED');
    await actOnReport(inbox, paid('RESOLVED', 500).transitionId, 'close');
    await merchant.advance(90 * DAY_MS);
    await pay('YOUNG');
    await pay('REPEATED', 500.5);
    const other = merchant.open({ account: 'other' });
    expect(await other.prune({ bodiesOlderThanDays: 1, waitingBodiesOlderThanDays: 1 })).toEqual({
      bodies: 0,
      archived: 0,
    });
    for (const [bodiesOlderThanDays, bodies] of [
      [91, 0],
      [undefined, 4],
      [undefined, 0],
    ] as const)
      expect(await inbox.prune({ bodiesOlderThanDays })).toEqual({ bodies, archived: 0 });
    for (const reference of ['FORGED', 'YOUNG', 'REPEATED'])
      expect((await show(reference))?.bodies[0]?.text).toContain('Example Customer');
    const [repeated] = (await show('REPEATED'))?.bodies ?? [];
    expect(Number(repeated?.lastAt) - Number(repeated?.firstAt)).toBeGreaterThanOrEqual(90 * DAY_MS);
    await pay('SETTLED');
    const pruned = await show('SETTLED');
    expect(pruned).toMatchObject({ state: 'settled', deliveries: 3, bodyCount: 2 });
    expect(pruned?.bodies.map(({ text, request }) => `${text} ${request.amount}`).sort()).toEqual([
      'undefined 500',
      'undefined 500.5',
    ]);
    await inbox.expect(money('UNHANDLED', '500.5'));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['SETTLED 500', 'UNHANDLED 500.5']);
    await merchant.advance(276 * DAY_MS);
    expect(await inbox.prune({ waitingBodiesOlderThanDays: 367 })).toMatchObject({ bodies: 2 });
    expect(await inbox.prune()).toMatchObject({ bodies: 1 });
    expect(await show('FORGED')).toMatchObject({ reason: 'amount_mismatch', bodies: [{ text: undefined }] });
    await inbox.expect(money('FORGED', '500.5'), REPLACE);
    await workOff(inbox);
    expect(await merchant.credits()).toContain('FORGED 500.5');
  });

  test('removes the errors of attempts after the period of their bodies, and with the archive', async () => {
    const retry = { attempts: 2, firstDelayMs: 1000, longestDelayMs: 1000 };
    const shop = await newShop(engine, { retry }, ({ signed, attempt }) => {
      if (signed.merchant_reference === 'DEAD' || attempt === 1) throw new Error('no order of Canary Nakato');
    });
    const { merchant, inbox, show, workLater } = shop;
    const fail = async (...references: string[]): Promise<void> => {
      await order(inbox, ...references);
      for (let attempt = 1; attempt <= 2; attempt += 1) await workLater();
    };
    const counts = async (): Promise<(number | undefined)[]> =>
      Promise.all(['DEAD', 'OVER', 'OLD'].map(async (one) => (await show(one))?.failures.length));
    await fail('OLD', 'DEAD');
    await merchant.advance(300 * DAY_MS);
    await fail('OVER');
    expect(await counts()).toEqual([2, 1, 1]);
    await merchant.open({ account: 'other' }).prune({ bodiesOlderThanDays: 1 });
    expect(await inbox.prune({ archiveOlderThanDays: 200 })).toMatchObject({ archived: 1 });
    expect(await counts()).toEqual([2, 1, 0]);
    await merchant.advance(89 * DAY_MS);
    await inbox.prune();
    expect(await counts()).toEqual([0, 1, 0]);
    expect(await show('DEAD')).toMatchObject({ state: 'dead', lastError: undefined });
    await merchant.advance(2 * DAY_MS);
    await inbox.prune();
    expect(await merchant.query(`select * from ${merchant.table('failure')}`)).toEqual([]);
  });

  test('keeps the bodies and errors of what is not decided, however old', async () => {
    const { merchant, inbox, show, sell } = await newShop(engine, LATER, () => {
      throw new Error('Out of stock.');
    });
    await sell('RETRIED');
    await order(inbox, 'PENDING');
    await merchant.advance(400 * DAY_MS);
    expect(await inbox.prune()).toEqual({ bodies: 0, archived: 0 });
    const bodies = [{ text: expect.stringContaining('Example Customer') }];
    expect(await show('PENDING')).toMatchObject({ state: 'pending', bodies });
    const lastError = expect.stringContaining('Out of stock.');
    expect(await show('RETRIED')).toMatchObject({ state: 'retrying', bodies, lastError });
  });
});

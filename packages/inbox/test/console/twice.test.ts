import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { ANY_TIME, actOnReport, money, NOTE, newShop, offeredAct, REPLACE } from '../support/shop.ts';
import { clickTwice } from '../support/twice.ts';
import { pause, workOff } from '../support/until.ts';

const first = (reference: string) => paid(reference, 500);
const idOf = (reference: string): string => first(reference).transitionId;

describe.each(ENGINES)('threat A70: a second click, on %s', (engine) => {
  // Every delay of every form is a proof.
  test('changes no money, whatever the form and the state', () => clickTwice(engine, false));

  test('of a decision on a forgery does not close the genuine payment that has arrived meanwhile', async () => {
    const { inbox, merchant, pay, show } = await newShop(engine);
    for (const reference of ['ONE', 'ALL']) {
      await inbox.expect(money(reference));
      await pay(reference, 5_000_000);
    }
    const one = await offeredAct(inbox, 'ONE', 'close');
    const until = new Date();
    await pause(2);
    for (const reference of ['ONE', 'ALL']) await inbox.route.onCallback(first(reference));
    // Neither the state nor the reason has changed yet.
    expect(await show('ONE')).toMatchObject({ state: 'quarantined', reason: 'amount_mismatch' });
    await expect(inbox.act(one, NOTE)).rejects.toMatchObject({ code: 'stale' });
    const mismatch = { reason: 'amount_mismatch', until } as const;
    expect(await inbox.actAll('close', mismatch, NOTE)).toMatchObject({ done: 0 });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ALL 500', 'ONE 500']);
    // Control: what has not changed is closed.
    await pay('OTHER');
    const unexpected = { reason: 'no_expectation', until: ANY_TIME } as const;
    expect(await inbox.actAll('close', unexpected, NOTE)).toEqual({ done: 1, skipped: 0 });
  });

  test('of the advice for a replaced amount, to restore it and then to apply it, applies it once', async () => {
    const { inbox, merchant, pay, show } = await newShop(engine);
    await inbox.expect(money('A'));
    await inbox.expect(money('A', 700), REPLACE);
    await pay('A');
    expect(await show('A')).toMatchObject({ reason: 'contradicting_bodies' });
    const before = await offeredAct(inbox, 'A', 'apply');
    await inbox.expect(money('A'), REPLACE);
    await workOff(inbox);
    await expect(inbox.act(before, NOTE)).rejects.toMatchObject({ code: 'stale' });
    await expect(actOnReport(inbox, idOf('A'), 'apply')).rejects.toThrow('not possible');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500']);
  });

  test('of an expectation that another person has replaced is refused, in money', async () => {
    const { inbox, pay } = await newShop(engine);
    await inbox.expect(money('A'));
    await pay('A', 700);
    const before = await offeredAct(inbox, 'A', 'accept');
    const replaced = { ...NOTE, currency: 'UGX', amount: '500.00' };
    await inbox.expect(money('A', 600), { replace: replaced });
    await expect(inbox.expect(money('A', 650), { replace: replaced })).rejects.toMatchObject({
      code: 'stale',
    });
    await expect(inbox.act(before, NOTE)).rejects.toMatchObject({ code: 'stale' });
    expect(await inbox.payment('A')).toMatchObject({ expected: { amount: '600' } });
  });
});

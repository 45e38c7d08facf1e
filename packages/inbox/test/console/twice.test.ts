import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { ANY_TIME, money, NOTE, newShop, REPLACE, seen } from '../support/shop.ts';
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
    const one = await seen(inbox, idOf('ONE'));
    const { at: until } = await inbox.stats();
    await pause(2);
    for (const reference of ['ONE', 'ALL']) await inbox.route.onCallback(first(reference));
    // Neither the state nor the reason has changed yet.
    expect(await show('ONE')).toMatchObject({ state: 'quarantined', reason: 'amount_mismatch' });
    await expect(inbox.resolve(one, NOTE)).rejects.toMatchObject({ code: 'stale' });
    expect(await inbox.resolve({ state: 'quarantined', until }, NOTE)).toBe(0);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ALL 500', 'ONE 500']);
    // Control: what has not changed is closed.
    await pay('OTHER');
    expect(await inbox.resolve({ state: 'unhandled', until: ANY_TIME }, NOTE)).toBe(1);
  });

  test('of the advice for a replaced amount, to restore it and then to reopen, applies it once', async () => {
    const { inbox, merchant, pay, show } = await newShop(engine);
    await inbox.expect(money('A'));
    await inbox.expect(money('A', 700), REPLACE);
    await pay('A');
    expect(await show('A')).toMatchObject({ reason: 'contradicting_bodies' });
    const before = await seen(inbox, idOf('A'));
    await inbox.expect(money('A'), REPLACE);
    await workOff(inbox);
    await expect(inbox.reopen(before, NOTE)).rejects.toMatchObject({ code: 'stale' });
    await expect(inbox.reopen(await seen(inbox, idOf('A')), NOTE)).rejects.toThrow('It was applied');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500']);
  });

  test('of an expectation that another person has replaced is refused, in money', async () => {
    const { inbox, pay } = await newShop(engine);
    await inbox.expect(money('A'));
    await pay('A', 700);
    const before = await seen(inbox, idOf('A'));
    const [body] = (await inbox.show(idOf('A')))?.bodies ?? [];
    const replaced = { ...NOTE, currency: 'UGX', amount: '500.00' };
    await inbox.expect(money('A', 600), { replace: replaced });
    await expect(inbox.expect(money('A', 650), { replace: replaced })).rejects.toMatchObject({
      code: 'stale',
    });
    const accepted = { ...NOTE, body: body?.digest ?? '' };
    await expect(inbox.accept(before, accepted)).rejects.toMatchObject({ code: 'stale' });
    expect(await inbox.expectations('A')).toMatchObject([{ amount: '600' }]);
  });
});

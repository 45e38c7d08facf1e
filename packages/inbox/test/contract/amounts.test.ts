import { describe, expect, test } from 'vitest';
import { callback } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { LATER, money, newShop, ORDER } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

describe.each(ENGINES)('amounts on %s', (engine) => {
  test('threat A5: a forged body that arrives first neither credits nor blocks', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    // Nor does a payout under the reference of the order.
    await pay('ORD-1', 500, { internal_reference: 'INT-OUT', transaction_type: 'PAYOUT' });
    expect(await inbox.reports()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await pay('ORD-1', 5_000_000);
    expect(await show()).toMatchObject({ state: 'quarantined', reason: 'amount_mismatch' });
    expect(await merchant.credits()).toEqual([]);
    for (const amount of [500, 600]) await pay('ORD-1', amount);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    const { bodies = [], ...details } = (await show()) ?? {};
    expect(details).toMatchObject({ state: 'settled', bodyCount: 3 });
    const reported = { name: 'transition.settled', contradicted: true };
    expect(merchant.events).toContainEqual(expect.objectContaining(reported));
    const settled = bodies.filter(({ isSettled }) => isSettled);
    expect(settled).toMatchObject([{ request: { amount: '500' } }]);
  });

  test('a handler receives the expectation as settled, and the fields of the body that equals it as claimed', async () => {
    const seen: unknown[] = [];
    const { inbox } = await newShop(engine, {}, ({ tx: _, ...rest }) => seen.push(rest));
    await inbox.expect(money('ORD-1001', '500.00'));
    await inbox.route.onCallback(callback({ request_amount: 9_999_999, transaction_charge: 0 }));
    const claims = { total_credit: 9_999_999, transaction_charge: 15.25 };
    await inbox.route.onCallback(callback({ ...claims, nested: { a: 1 } }));
    await workOff(inbox);
    const { transitionId, signed, unsigned } = callback(claims);
    const settled = { currency: 'UGX', amount: '500' };
    const payment = {
      ...{ merchant_reference: 'ORD-1001', transaction_type: 'COLLECTION' },
      ...{ expected: { ...settled, compare: 'both' }, settled, replaced: [] },
    };
    const given = { payment, signed, claimed: { ...unsigned }, signal: expect.any(AbortSignal) };
    expect(seen).toEqual([{ id: transitionId, attempt: 1, ...given }]);
    expect(unsigned).toMatchObject({ transaction_charge: 15.25, provider_code: 'example_mobile_money' });
  });
});

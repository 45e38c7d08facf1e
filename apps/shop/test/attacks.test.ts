import { signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { amounts, genuine, LATE, openOrder } from './support/open-shop.ts';

const FAILED = { transaction_status: 'FAILED' };
const PAYOUT = { transaction_type: 'PAYOUT', internal_reference: 'INT-P' };

/** Callbacks with a valid signature that pay nothing, and what the inbox makes of each. */
test.each<[what: string, payload: (reference: string) => object, outcome: string]>([
  ['both amounts forged (threat A2)', () => amounts(1), 'quarantined amount_mismatch'],
  ['one amount forged (threat A2)', () => ({ transaction_amount: 1 }), 'quarantined amount_mismatch'],
  ['a higher amount (threat A2)', () => amounts(18_000_000), 'quarantined amount_mismatch'],
  ['another currency', () => ({ request_currency: 'KES', transaction_currency: 'KES' }), 'quarantined '],
  ['no amounts', () => ({ request_amount: undefined, transaction_amount: undefined }), 'quarantined '],
  ['another reference (threat A3)', () => ({ merchant_reference: '__proto__' }), 'unhandled no_expectation'],
  ['no reference', () => ({ merchant_reference: '' }), 'quarantined empty_reference'],
  [
    'a shifted separator (threat A3)',
    (reference) => ({ merchant_reference: `${reference}:INT`, internal_reference: '1' }),
    'quarantined ambiguous',
  ],
  ['another outcome', () => FAILED, 'settled'],
  ['an unknown outcome', () => ({ transaction_status: 'completed' }), 'quarantined completed_in_part'],
  ['another type', () => PAYOUT, 'unhandled no_handler'],
])('a callback with %s pays no order, and the genuine one still does', async (_what, payload, outcome) => {
  const { shop, customer, reference } = await openOrder();
  const forged = payload(reference);
  expect(await shop.stateAfter(reference, forged)).not.toBe('paid');
  const [found] = await shop.transitions();
  expect(`${found?.state} ${found?.reason}`).toContain(outcome);
  expect(await customer.orderPage(reference)).not.toContain('Paid.');
  expect(await shop.stateAfter(reference)).toBe('paid');
  expect(shop.orders.find(reference)?.payment?.settled).toEqual({ currency: 'UGX', amount: '18000' });
});

test('threat A4: a redirect pays nothing, followed, posted or replayed to the callback route with another amount', async () => {
  const { shop, customer, reference, paymentUrl } = await openOrder({ sandbox: LATE });
  const redirect = await customer.decide(paymentUrl, 'pay');
  for (const _ of [1, 2]) expect((await customer.get(redirect)).status).toBe(303);
  expect((await customer.post(redirect, {})).status).toBeGreaterThanOrEqual(400);
  const { searchParams } = new URL(redirect);
  const { hmac_signature: signature = '', event, ...payload } = Object.fromEntries(searchParams);
  const replayed = { event, payload: { ...payload, ...amounts(5_000_000) } };
  expect(await shop.postCallback(replayed, signature)).toBe(200);
  expect(await shop.stateOf(reference)).toBe('open');
  shop.sandbox.advance(3600);
  await shop.sandbox.idle();
  expect(await shop.stateOf(reference)).toBe('paid');
  const { payment } = shop.orders.find(reference) ?? {};
  expect(await shop.postCallback(replayed, signature)).toBe(200);
  expect(await shop.transitions()).toMatchObject([{ state: 'settled', deliveries: 3, bodyCount: 2 }]);
  expect(shop.orders.find(reference)?.payment).toEqual(payment);
});

test('threat A26: a redirect that is forged, or in a browser that did not order, changes nothing', async () => {
  const { shop, customer, reference, paymentUrl } = await openOrder({ sandbox: LATE });
  const redirect = await customer.decide(paymentUrl, 'pay');
  const forged = redirect.replace(/(s=|s%3D)[0-9a-f]{64}/, `$1${'0'.repeat(64)}`);
  expect(forged).not.toBe(redirect);
  const stranger = new Customer(shop);
  for (const location of [(await stranger.get(redirect)).location, (await customer.get(forged)).location]) {
    expect(location).toBe('/payments/unconfirmed');
    expect(shop.orders.find(reference)?.hint).toBeUndefined();
  }
  // The customer's own order is linked there, and only there.
  expect(await customer.read('/payments/unconfirmed')).toContain(`href="/orders/${reference}"`);
  expect(await stranger.read('/payments/unconfirmed')).not.toContain(reference);
});

test('threat A19: a callback under a wrong key is refused, and the log says why; another event is acknowledged and pays nothing', async () => {
  const { shop, reference } = await openOrder();
  expect(await shop.sendCallback(reference, {}, 'ANOTHERACCOUNTSKEY')).toBe(401);
  expect(shop.log.join('\n')).toContain('No key matches this signature.');
  const created = { ...genuine(reference), event: 'transaction.created' };
  const { signingKey } = shop.sandbox.account;
  expect(await shop.postCallback(created, signCallback({ signingKey, data: created }))).toBe(200);
  expect(await shop.stateOf(reference)).toBe('open');
});

test('an order stays paid, once, whatever is received after its payment, and the owner sees the others', async () => {
  const { shop, customer, reference } = await openOrder();
  expect(await shop.stateAfter(reference)).toBe('paid');
  const paid = shop.orders.find(reference);
  await shop.sendCallback(reference, { internal_reference: 'INT-2' });
  await shop.sendCallback(reference, FAILED);
  await shop.sendCallback(reference, { ...FAILED, internal_reference: 'INT-3' });
  expect(await shop.transitions()).toMatchObject([
    { state: 'superseded', reason: 'late_status' },
    { state: 'quarantined', reason: 'transition_not_allowed' },
    { state: 'conflict', reason: 'already_settled' },
    { state: 'settled' },
  ]);
  expect(shop.orders.find(reference)).toEqual(paid);
  expect(await customer.orderPage(reference)).toContain('Paid. Thank you!');
});

import { signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { amounts, genuine, LATE, openOrder } from './support/open-shop.ts';

test('threat A2: a forged amount under a valid signature pays no order', async () => {
  const { shop, customer, reference } = await openOrder();
  for (const forged of [
    amounts(1),
    { transaction_amount: 1 },
    amounts(18_000_000),
    { request_amount: '18000', transaction_amount: '18000' },
    { request_currency: 'KES', transaction_currency: 'KES' },
    { request_amount: undefined, transaction_amount: undefined },
  ]) {
    expect(await shop.stateAfter(reference, forged)).toBe('open');
  }
  expect(await customer.read('/owner/inbox/transitions')).toContain('Suspicious: the amount differs');
  const [forgery] = await shop.transitions();
  expect(forgery).toMatchObject({ state: 'quarantined', reason: 'amount_mismatch', bodyCount: 6 });
  const page = await customer.read(`/owner/inbox/transitions/${forgery?.transitionId}`);
  for (const amount of ['UGX 1', 'KES 18,000']) {
    expect(page).toContain(`<mark><span class="amount">${amount}</span></mark>`);
  }
  expect(await customer.orderPage(reference)).not.toContain('Paid.');

  expect(await shop.stateAfter(reference)).toBe('paid');
  expect(shop.orders.find(reference)?.total).toEqual({ currency: 'UGX', amount: '18000' });
  expect(await customer.read('/owner/orders')).toContain('needs attention');
});

test('threat A5: a forged body that arrives before the genuine one neither pays nor blocks it', async () => {
  const sandbox = { misbehave: { forged_amount: 1, duplicate: 1 } };
  const { shop, customer, reference, paymentUrl } = await openOrder({ sandbox });
  await customer.decide(paymentUrl, 'pay');
  await shop.sandbox.idle();
  expect(await shop.stateOf(reference)).toBe('paid');
  expect(await shop.transitions()).toMatchObject([{ state: 'settled', bodyCount: 2, deliveries: 2 }]);
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
  const [transition] = await shop.transitions();
  expect(transition).toMatchObject({ state: 'settled', deliveries: 3, bodyCount: 2 });
  expect(shop.orders.find(reference)?.payment).toEqual(payment);
  const details = await shop.inbox.show(transition?.transitionId ?? '');
  expect(details?.bodies.filter(({ isSettled }) => isSettled)).toMatchObject([
    { transaction: { currency: 'UGX', amount: '18000' } },
  ]);
});

test('threat A26: a redirect that is forged, or in a browser that did not order, changes nothing, not even the words on the page', async () => {
  const { shop, customer, reference, paymentUrl } = await openOrder({ sandbox: LATE });
  const redirect = await customer.decide(paymentUrl, 'pay');
  const forged = redirect.replace(/(s=|s%3D)[0-9a-f]{64}/, `$1${'0'.repeat(64)}`);
  expect(forged).not.toBe(redirect);
  for (const [browser, url] of [
    [new Customer(shop), redirect],
    [customer, forged],
  ] as const) {
    const { status, location } = await browser.get(url);
    expect([status, location]).toEqual([303, '/payments/unconfirmed']);
    expect(shop.orders.find(reference)?.hint).toBeUndefined();
  }
  const page = await customer.read('/payments/unconfirmed');
  expect(page).toContain('If you paid, your order becomes paid');
  // The customer's own order is linked there, and only there.
  expect(page).toContain(`href="/orders/${reference}"`);
  expect(await new Customer(shop).read('/payments/unconfirmed')).not.toContain(reference);
});

test('threat A19: a callback under a wrong key is refused, and the log says why', async () => {
  const { shop, reference } = await openOrder();
  expect(await shop.sendCallback(reference, {}, 'ANOTHERACCOUNTSKEY')).toBe(401);
  expect(await shop.postCallback(genuine(reference), 'nonsense')).toBe(401);
  expect(await shop.stateOf(reference)).toBe('open');
  expect(shop.log.join('\n')).toContain('No signing key makes this signature.');
  expect(await shop.stateAfter(reference)).toBe('paid');
});

test('threat A3: a callback for a reference that does not belong to this shop pays nothing', async () => {
  const { shop, reference } = await openOrder();
  const foreign = ['ORD-OTHER', '', '__proto__', 'constructor', `${reference} `, reference.toLowerCase()];
  for (const other of foreign) expect(await shop.sendCallback(other)).toBe(200);
  // Moving the ':' turns the same signed string into another reference. The signature is valid: it is evidence.
  expect(await shop.sendCallback(`${reference}:INT`, { internal_reference: '1' })).toBe(200);
  expect(await shop.stateOf(reference)).toBe('open');
  expect(shop.orders.list()).toHaveLength(1);
  const states = new Set((await shop.transitions()).map(({ state, reason }) => `${state} ${reason}`));
  expect([...states].sort()).toEqual([
    'quarantined ambiguous',
    'quarantined empty_reference',
    'unhandled no_expectation',
  ]);
  expect(await shop.stateAfter(reference)).toBe('paid');
});

test('another outcome, another event or another type does not pay an order', async () => {
  const { shop, customer, reference } = await openOrder();
  const failed = { transaction_status: 'FAILED' };
  const payout = { transaction_type: 'PAYOUT', internal_reference: 'INT-P' };
  expect(await shop.stateAfter(reference, { ...payout, ...failed })).toBe('open');
  expect(await customer.orderPage(reference)).toContain('We are waiting for your payment');
  for (const other of [failed, { transaction_status: 'completed' }, { transaction_type: 'PAYOUT' }]) {
    expect(await shop.stateAfter(reference, other)).toBe('failed');
  }
  const created = { ...genuine(reference), event: 'transaction.created' };
  const { signingKey } = shop.sandbox.account;
  expect(await shop.postCallback(created, signCallback({ signingKey, data: created }))).toBe(200);
  const found = (await shop.transitions()).map(
    ({ signed, state, reason }) =>
      `${signed.transaction_type} ${signed.transaction_status} ${state} ${reason ?? ''}`,
  );
  expect(found.sort()).toEqual([
    'COLLECTION COMPLETED unhandled no_handler',
    'COLLECTION FAILED settled ',
    'COLLECTION completed unhandled no_handler',
    'PAYOUT COMPLETED unhandled no_handler',
    'PAYOUT FAILED unhandled no_handler',
  ]);
  expect(await shop.stateOf(reference)).toBe('failed');
  expect(await shop.stateAfter(reference)).toBe('paid');
});

test('an order stays paid, once, whatever is received after its payment, and the owner sees the others', async () => {
  const { shop, customer, reference } = await openOrder();
  expect(await shop.stateAfter(reference)).toBe('paid');
  const paid = shop.orders.find(reference);
  const failed = { transaction_status: 'FAILED' };
  await shop.sendCallback(reference, { internal_reference: 'INT-2' });
  await shop.sendCallback(reference, failed);
  await shop.sendCallback(reference, { ...failed, internal_reference: 'INT-3' });
  expect(await shop.transitions()).toMatchObject([
    { state: 'conflict', reason: 'paid_by_another' },
    { state: 'quarantined', reason: 'transition_not_allowed' },
    { state: 'conflict', reason: 'already_settled' },
    { state: 'settled' },
  ]);
  expect(shop.orders.find(reference)).toEqual(paid);
  expect(await customer.orderPage(reference)).toContain('Paid. Thank you!');
});

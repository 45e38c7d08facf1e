import { signCallback } from '@payment-service/core/testing';
import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { openShop, STAGES } from './open-shop.ts';

const LATE = { misbehave: { late_ms: 3_600_000 } };

describe.each(STAGES)(
  'attacks on $framework and $engine that pay no order and do not block the genuine callback',
  ({ framework, engine }) => {
    test('threat A2: a forged amount under a valid signature', async () => {
      const shop = await openShop({ framework, engine });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      const data = genuine(reference);
      const signature = signCallback({ signingKey: shop.sandbox.account.signingKey, data });
      for (const forged of [
        { request_amount: 1, transaction_amount: 1 },
        { request_amount: 18_000, transaction_amount: 1 },
        { request_amount: 18_000_000, transaction_amount: 18_000_000 },
        { request_amount: '18000', transaction_amount: '18000' },
        { request_currency: 'KES', transaction_currency: 'KES' },
        { request_amount: undefined, transaction_amount: undefined },
      ]) {
        expect(await shop.postCallback(genuine(reference, forged), signature)).toBe(200);
        expect(await shop.stateOf(reference)).toBe('open');
      }
      expect((await customer.get('/owner/inbox/transitions')).body).toContain(
        'Suspicious: the amount differs',
      );
      const [forgery] = await shop.transitions();
      expect(forgery).toMatchObject({ state: 'quarantined', reason: 'amount_mismatch', bodyCount: 6 });
      const page = (await customer.get(`/owner/inbox/transitions/${forgery?.transitionId}`)).body;
      for (const amount of ['UGX 1', 'KES 18,000']) {
        expect(page).toContain(`<mark><span class="amount">${amount}</span></mark>`);
      }
      expect((await customer.orderPage(reference)).body).not.toContain('Paid.');

      expect(await shop.postCallback(data, signature)).toBe(200);
      expect(await shop.stateOf(reference)).toBe('paid');
      expect((await shop.orders.find(reference))?.total).toEqual({ currency: 'UGX', amount: '18000' });
      expect((await customer.get('/owner/orders')).body).toContain('needs attention');
    });

    test('threat A5: a forged body that arrives before the genuine one neither pays nor blocks it', async () => {
      const shop = await openShop({
        framework,
        engine,
        sandbox: { misbehave: { forged_amount: 1, duplicate: 1 } },
      });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      await customer.decide(paymentUrl, 'pay');
      await shop.sandbox.idle();
      expect(await shop.stateOf(reference)).toBe('paid');
      expect(await shop.transitions()).toMatchObject([{ state: 'settled', bodyCount: 2, deliveries: 2 }]);
    });

    test('threat A4: the signature of a redirect, posted to the callback route with another amount before and after the callback', async () => {
      const shop = await openShop({ framework, engine, sandbox: LATE });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      const redirect = new URL(await customer.decide(paymentUrl, 'pay'));
      const {
        hmac_signature: signature = '',
        event = '',
        ...payload
      } = Object.fromEntries(redirect.searchParams);
      const replayed = {
        event,
        payload: { ...payload, request_amount: 5_000_000, transaction_amount: 5_000_000 },
      };

      expect(await shop.postCallback(replayed, signature)).toBe(200);
      expect(await shop.stateOf(reference)).toBe('open');

      shop.sandbox.advance(3600);
      await shop.sandbox.idle();
      expect(await shop.stateOf(reference)).toBe('paid');
      const { payment } = (await shop.orders.find(reference)) ?? {};

      expect(await shop.postCallback(replayed, signature)).toBe(200);
      expect(await shop.stateOf(reference)).toBe('paid');
      expect((await shop.orders.find(reference))?.payment).toEqual(payment);
      const [transition] = await shop.transitions();
      expect(transition).toMatchObject({ state: 'settled', deliveries: 3, bodyCount: 2 });
      const details = await shop.inbox.show(transition?.transitionId ?? '');
      expect(details?.bodies.filter(({ isSettled }) => isSettled)).toMatchObject([
        { transaction: { currency: 'UGX', amount: '18000' } },
      ]);
    });

    test('a genuine redirect', async () => {
      const shop = await openShop({ framework, engine, sandbox: LATE });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      const redirect = await customer.decide(paymentUrl, 'pay');
      for (let times = 0; times < 3; times += 1) {
        expect((await customer.get(redirect)).status).toBe(303);
        expect(await shop.stateOf(reference)).toBe('open');
      }
      const posted = await customer.post(redirect, {});
      expect(posted.status).toBeGreaterThanOrEqual(400);
      expect(await shop.stateOf(reference)).toBe('open');
      shop.sandbox.advance(3600);
      await shop.sandbox.idle();
      expect(await shop.stateOf(reference)).toBe('paid');
    });

    test('threat A26: a redirect in a browser that did not order changes nothing, not even the words on the page', async () => {
      const shop = await openShop({ framework, engine, sandbox: LATE });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      const redirect = await customer.decide(paymentUrl, 'pay');
      const { status, location } = await new Customer(shop).get(redirect);
      expect([status, location]).toEqual([303, '/payments/unconfirmed']);
      expect((await shop.orders.find(reference))?.hint).toBeUndefined();

      const forged = redirect.replace(
        /s=[0-9a-f]{64}|s%3D[0-9a-f]{64}/,
        (part) => part.slice(0, -64) + '0'.repeat(64),
      );
      expect(forged).not.toBe(redirect);
      expect((await customer.get(forged)).location).toBe('/payments/unconfirmed');
      expect((await shop.orders.find(reference))?.hint).toBeUndefined();
      expect((await customer.get('/payments/unconfirmed')).body).toContain(
        'If you paid, your order becomes paid',
      );
    });

    test('threat A19: a wrong key', async () => {
      const shop = await openShop({ framework, engine });
      const { reference } = await new Customer(shop).placeOrder();
      expect(await shop.sendCallback(genuine(reference), 'ANOTHERACCOUNTSKEY')).toBe(401);
      expect(await shop.postCallback(genuine(reference), 'nonsense')).toBe(401);
      expect(await shop.stateOf(reference)).toBe('open');
      expect((await new Customer(shop).get('/owner/orders')).body).toContain(
        'No signing key makes this signature.',
      );
      expect(await shop.sendCallback(genuine(reference))).toBe(200);
      expect(await shop.stateOf(reference)).toBe('paid');
    });

    test('a callback for a reference that does not belong to this shop', async () => {
      const shop = await openShop({ framework, engine });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      for (const other of [
        'ORD-SOMEBODYELSE',
        '',
        '__proto__',
        'constructor',
        `${reference} `,
        reference.toLowerCase(),
      ]) {
        expect(await shop.sendCallback(genuine(other))).toBe(200);
      }
      // Moving the ':' turns the same signed string into another reference (threat A3). The signature is valid: it is evidence.
      expect(await shop.sendCallback(genuine(`${reference}:INT`, { internal_reference: '1' }))).toBe(200);
      expect(await shop.stateOf(reference)).toBe('open');
      expect(await shop.orders.list()).toHaveLength(1);
      const states = new Set((await shop.transitions()).map(({ state, reason }) => `${state} ${reason}`));
      expect([...states].sort()).toEqual([
        'quarantined ambiguous',
        'quarantined empty_reference',
        'unhandled no_expectation',
      ]);
      expect(await shop.sendCallback(genuine(reference))).toBe(200);
      expect(await shop.stateOf(reference)).toBe('paid');
    });

    test('another outcome, another event or another type', async () => {
      const shop = await openShop({ framework, engine });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      const failedPayout = {
        transaction_type: 'PAYOUT',
        transaction_status: 'FAILED',
        internal_reference: 'INT-P',
      };
      expect(await shop.sendCallback(genuine(reference, failedPayout))).toBe(200);
      expect(await shop.stateOf(reference)).toBe('open');
      expect((await customer.orderPage(reference)).body).toContain('We are waiting for your payment');
      for (const other of [
        { transaction_status: 'FAILED' },
        { transaction_status: 'completed' },
        { transaction_status: 'PENDING' },
        { transaction_type: 'PAYOUT' },
      ]) {
        expect(await shop.sendCallback(genuine(reference, other))).toBe(200);
        expect(await shop.stateOf(reference)).toBe('failed');
      }
      expect(await shop.sendCallback({ ...genuine(reference), event: 'transaction.created' })).toBe(200);
      expect(await shop.stateOf(reference)).toBe('failed');
      const found = (await shop.transitions()).map(
        ({ signed, state, reason }) =>
          `${signed.transaction_type} ${signed.transaction_status} ${state} ${reason ?? ''}`,
      );
      expect(found.sort()).toEqual([
        'COLLECTION COMPLETED unhandled no_handler',
        'COLLECTION FAILED settled ',
        'COLLECTION PENDING unhandled no_handler',
        'COLLECTION completed unhandled no_handler',
        'PAYOUT COMPLETED unhandled no_handler',
        'PAYOUT FAILED unhandled no_handler',
      ]);
      expect(await shop.sendCallback(genuine(reference))).toBe(200);
      expect(await shop.stateOf(reference)).toBe('paid');
    });

    test('callbacks after the payment: the order stays paid, once, and the owner sees the others', async () => {
      const shop = await openShop({ framework, engine });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      await shop.sendCallback(genuine(reference));
      expect(await shop.stateOf(reference)).toBe('paid');
      const paid = await shop.orders.find(reference);
      await shop.sendCallback(genuine(reference, { internal_reference: 'INT-2' }));
      await shop.sendCallback(genuine(reference, { transaction_status: 'FAILED' }));
      await shop.sendCallback(
        genuine(reference, { transaction_status: 'FAILED', internal_reference: 'INT-3' }),
      );
      expect(await shop.transitions()).toMatchObject([
        { state: 'conflict', reason: 'paid_by_another' },
        { state: 'quarantined', reason: 'transition_not_allowed' },
        { state: 'conflict', reason: 'already_settled' },
        { state: 'settled' },
      ]);
      expect(await shop.orders.find(reference)).toEqual(paid);
      expect((await customer.orderPage(reference)).body).toContain('Paid. Thank you!');
    });
  },
);

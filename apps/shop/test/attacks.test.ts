import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { describe, expect, it } from 'vitest';
import { orderState } from '../src/order.ts';
import { Customer } from './customer.ts';
import { type CallbackData, FRAMEWORKS, type OpenShop, openShop } from './open-shop.ts';

const LATE = { misbehave: { late_ms: 3_600_000 } };

async function stateOf(shop: OpenShop, reference: string): Promise<string | undefined> {
  const order = await shop.orders.find(reference);
  return order && orderState(order);
}

/** What the genuine callback would be, for an order of 18,000 UGX. */
function genuine(reference: string, payload: object = {}): CallbackData {
  return sampleCallback({
    payload: {
      merchant_reference: reference,
      internal_reference: 'INT-1',
      request_amount: 18_000,
      transaction_amount: 18_000,
      ...payload,
    },
  });
}

describe.each(FRAMEWORKS)(
  'none of these pays an order on %s, and the genuine callback still does',
  (framework) => {
    it('A2: a forged amount under a valid signature', async () => {
      const shop = await openShop({ framework });
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
        expect(await stateOf(shop, reference)).toBe('open');
      }
      const owner = (await customer.get('/owner/orders')).body;
      expect(owner).toContain('Suspicious: the amount differs');
      expect(owner).toContain('transaction_amount: 1 (different)');
      expect(owner).toContain('request_currency: KES (different)');
      expect((await customer.orderPage(reference)).body).not.toContain('Paid.');

      expect(await shop.postCallback(data, signature)).toBe(200);
      expect(await stateOf(shop, reference)).toBe('paid');
      expect((await shop.orders.find(reference))?.total).toEqual({ currency: 'UGX', amount: '18000' });
    });

    it('A2: a forged amount that the sandbox itself sends first', async () => {
      const shop = await openShop({ framework, sandbox: { misbehave: { forged_amount: 1 } } });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      await customer.get(await customer.decide(paymentUrl, 'pay'));
      await shop.sandbox.idle();
      expect(await stateOf(shop, reference)).toBe('open');
      expect((await shop.orders.find(reference))?.concerns).toMatchObject([{ kind: 'amount' }]);
    });

    it('A5: a forged body that comes before the genuine one neither pays nor blocks', async () => {
      const shop = await openShop({ framework, sandbox: { misbehave: { forged_amount: 1, duplicate: 1 } } });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      await customer.decide(paymentUrl, 'pay');
      await shop.sandbox.idle();
      expect(await stateOf(shop, reference)).toBe('paid');
      expect((await shop.orders.find(reference))?.concerns).toMatchObject([{ kind: 'amount', times: 1 }]);
    });

    it('A4: the signature of a redirect, posted to the callback route with another amount, before and after', async () => {
      const shop = await openShop({ framework, sandbox: LATE });
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
      expect(await stateOf(shop, reference)).toBe('open');

      shop.sandbox.advance(3600);
      await shop.sandbox.idle();
      expect(await stateOf(shop, reference)).toBe('paid');
      const { payment } = (await shop.orders.find(reference)) ?? {};

      expect(await shop.postCallback(replayed, signature)).toBe(200);
      const order = await shop.orders.find(reference);
      expect(order?.payment).toEqual(payment);
      expect(order?.concerns).toMatchObject([{ kind: 'amount', times: 2 }]);
    });

    it('a redirect, however genuine', async () => {
      const shop = await openShop({ framework, sandbox: LATE });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      const redirect = await customer.decide(paymentUrl, 'pay');
      for (let times = 0; times < 3; times += 1) {
        expect((await customer.get(redirect)).status).toBe(303);
        expect(await stateOf(shop, reference)).toBe('open');
      }
      const posted = await customer.post(redirect, {});
      expect(posted.status).toBeGreaterThanOrEqual(400);
      expect(await stateOf(shop, reference)).toBe('open');
      shop.sandbox.advance(3600);
      await shop.sandbox.idle();
      expect(await stateOf(shop, reference)).toBe('paid');
    });

    it('A26: a redirect in a browser that did not order changes nothing, not even a word', async () => {
      const shop = await openShop({ framework, sandbox: LATE });
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

    it('A19: a wrong key', async () => {
      const shop = await openShop({ framework });
      const { reference } = await new Customer(shop).placeOrder();
      expect(await shop.sendCallback(genuine(reference), 'ANOTHERACCOUNTSKEY')).toBe(401);
      expect(await shop.postCallback(genuine(reference), 'nonsense')).toBe(401);
      expect(await stateOf(shop, reference)).toBe('open');
      expect((await new Customer(shop).get('/owner/orders')).body).toContain('<code>mismatch</code>: 1');
      expect(await shop.sendCallback(genuine(reference))).toBe(200);
      expect(await stateOf(shop, reference)).toBe('paid');
    });

    it('A19: the service with a key that is not the shop’s', async () => {
      const shop = await openShop({
        framework,
        signingKey: 'NOTTHEKEYOFTHESANDBOX',
        sandbox: { retry: { max_attempts: 1 } },
      });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      const back = await customer.get(await customer.decide(paymentUrl, 'pay'));
      await shop.sandbox.idle();
      expect(shop.sandbox.deliveries()[0]?.attempts[0]?.status).toBe(401);
      expect(back.location).toBe('/payments/unconfirmed');
      expect(await stateOf(shop, reference)).toBe('open');
    });

    it('a callback for a reference that is not of this shop', async () => {
      const shop = await openShop({ framework });
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
      // Shifting the ':' makes another reference out of the same signed text (A3).
      expect(await shop.sendCallback(genuine(`${reference}:INT`, { internal_reference: '1' }))).toBe(401);
      expect(await stateOf(shop, reference)).toBe('open');
      expect(await shop.orders.list()).toHaveLength(1);
      expect((await customer.get('/owner/orders')).body).toContain('ORD-SOMEBODYELSE: COMPLETED');
      expect(await shop.sendCallback(genuine(reference))).toBe(200);
      expect(await stateOf(shop, reference)).toBe('paid');
    });

    it('another outcome, another event, another type', async () => {
      const shop = await openShop({ framework });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      for (const other of [
        { transaction_status: 'FAILED' },
        { transaction_status: 'completed' },
        { transaction_status: 'PENDING' },
        { transaction_type: 'PAYOUT' },
      ]) {
        expect(await shop.sendCallback(genuine(reference, other))).toBe(200);
        expect(await stateOf(shop, reference)).toBe('open');
      }
      expect(await shop.sendCallback({ ...genuine(reference), event: 'transaction.created' })).toBe(200);
      expect(await stateOf(shop, reference)).toBe('open');
      expect((await customer.get('/owner/orders')).body).toContain('Suspicious: not a collection');
      expect(await shop.sendCallback(genuine(reference))).toBe(200);
      expect(await stateOf(shop, reference)).toBe('paid');
    });

    it('what comes after the payment: it stays paid, once, and the owner sees the rest', async () => {
      const shop = await openShop({ framework });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      await shop.sendCallback(genuine(reference));
      const paid = await shop.orders.find(reference);
      await shop.sendCallback(genuine(reference, { internal_reference: 'INT-2' }));
      await shop.sendCallback(genuine(reference, { transaction_status: 'FAILED' }));
      const order = await shop.orders.find(reference);
      expect(order?.payment).toEqual(paid?.payment);
      expect(order?.concerns.map(({ kind }) => kind)).toEqual(['paid_twice', 'outcome_after_payment']);
      const owner = (await customer.get('/owner/orders')).body;
      expect(owner).toContain('Paid twice');
      expect(owner).toContain('After the payment, the service reported FAILED');
      expect((await customer.orderPage(reference)).body).toContain('Paid. Thank you!');
    });

    it('the payment of another order of the same customer', async () => {
      const shop = await openShop({ framework });
      const customer = new Customer(shop);
      const cheap = await customer.placeOrder();
      const dear = await customer.placeOrder({ product: 'lamp' });
      await customer.decide(cheap.paymentUrl, 'pay');
      expect(await stateOf(shop, cheap.reference)).toBe('paid');
      expect(await stateOf(shop, dear.reference)).toBe('open');
    });
  },
);

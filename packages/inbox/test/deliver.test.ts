import { deliver } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { newMerchant } from './support/merchant.ts';

const MONEY = { currency: 'UGX', amount: 500 };

test('deliver() runs a handler as a callback over HTTP does, and returns the payment after it', async () => {
  const merchant = await newMerchant('sqlite');
  const inbox = merchant.open({ statuses: { REVERSED: 'reversed' } });
  const seen: unknown[] = [];
  inbox.handle('paid', ({ payment, signed, claimed }) => {
    seen.push([payment.settled, signed.internal_reference, claimed.provider_code]);
  });
  inbox.handle('reversed', ({ payment }) => void seen.push(payment.settled));
  await inbox.expect({ merchant_reference: 'ORD-1', ...MONEY });
  const report = { merchant_reference: 'ORD-1', amount: 500 };
  const paid = await deliver(inbox, { ...report, payload: { provider_code: 'card' } });
  expect(paid).toMatchObject({ state: 'paid', settled: { amount: '500' }, reports: [{ deliveries: 1 }] });
  // The same report again is the same callback.
  expect(await deliver(inbox, report)).toMatchObject({ state: 'paid' });
  const reversed = await deliver(inbox, { ...report, status: 'REVERSED', event: 'transaction.reversed' });
  expect(reversed.state).toBe('reversed');
  const settled = { currency: 'UGX', amount: '500' };
  expect(seen).toEqual([[settled, 'INT-ORD-1', 'card'], settled]);
});

test('deliver() reports a claimed amount, currency or type that differs, and an error of the handler', async () => {
  const inbox = (await newMerchant('sqlite')).open({ onError: () => undefined, retry: { attempts: 1 } });
  inbox.handle('paid', () => {
    throw new Error('no such order');
  });
  for (const reference of ['A', 'B', 'C']) await inbox.expect({ merchant_reference: reference, ...MONEY });
  expect(await deliver(inbox, { merchant_reference: 'A', amount: 5 })).toMatchObject({ state: 'held' });
  const dollars = { merchant_reference: 'B', amount: 500, currency: 'USD' };
  expect(await deliver(inbox, dollars)).toMatchObject({ needs: 'currency_mismatch' });
  const failed = await deliver(inbox, { merchant_reference: 'C', amount: 500 });
  expect(failed.reports[0]?.lastError).toContain('no such order');
  const payout = { merchant_reference: 'C', amount: 500, payload: { transaction_type: 'PAYOUT' } };
  expect(await deliver(inbox, payout)).toMatchObject({ transaction_type: 'PAYOUT', state: 'unexpected' });
});

test('deliver() refuses what a route would refuse, and an inbox without a handler', async () => {
  const inbox = (await newMerchant('sqlite')).open();
  const none = deliver(inbox, { merchant_reference: 'ORD-1', amount: 500 });
  await expect(none).rejects.toMatchObject({ option: 'handler' });
  const ambiguous = deliver(inbox, { merchant_reference: 'ORD:1', amount: 500 });
  await expect(ambiguous).rejects.toThrow(/a route would refuse this callback.*colonIn/);
});

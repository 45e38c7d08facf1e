import { expect, test } from 'vitest';
import { payoutBalance } from '../src/client/selection/payout-balance.ts';
import { exactWallet } from './client/wire-samples.ts';

const payout = (available_balance: string, currency = 'UGX') => ({
  ...exactWallet,
  ...{ currency, wallet_type: 'MERCHANT_PAYOUT' },
  exact: { ...exactWallet.exact, available_balance },
});

test.each([
  ['500', '500', true],
  ['500', '500.01', false],
  ['9007199254740993', '9007199254740992', true],
  ['9007199254740992', '9007199254740993', false],
  ['0', '0.000001', false],
  ['-5', '1', false],
])('with %s available, a payout of %s is possible: %s', (available, amount, ok) => {
  const judged = payoutBalance([payout(available)], { currency: 'UGX', amount });
  expect(judged).toMatchObject(ok ? { ok } : { ok, code: 'balance_too_low' });
});

test('the collection wallet and other currencies do not count', () => {
  for (const wallets of [[], [exactWallet], [payout('900', 'KES')]]) {
    expect(payoutBalance(wallets, { currency: 'UGX', amount: 1 })).toMatchObject({
      code: 'wallet_missing',
    });
  }
});

test('each of several payout wallets of a currency must have enough, since it is not shown which one is used', () => {
  const amount = 500;
  const both = [payout('500'), payout('499')];
  expect(payoutBalance(both, { currency: 'UGX', amount })).toMatchObject({ code: 'balance_too_low' });
  expect(payoutBalance([payout('500'), payout('900')], { currency: 'UGX', amount })).toEqual({ ok: true });
});

test.each([0, -1, '1,000', Number.NaN, undefined])('the amount %s is refused', (amount) => {
  const call = () => payoutBalance([payout('900')], { currency: 'UGX', amount: amount as never });
  expect(call).toThrow(expect.objectContaining({ option: 'amount' }));
});

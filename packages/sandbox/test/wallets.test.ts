import { ApiError } from '@payment-service/core/client';
import { expect, test } from 'vitest';
import { type SandboxOptions, SandboxRefusal } from '../src/index.ts';
import { collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const open = (options: SandboxOptions = {}) => stage.open({ callbackUrl: undefined, ...options });
const names = ['available_balance', 'uncleared_balance', 'reserve_balance'] as const;
const payout = { ...collection, merchant_reference: 'PAY-1', amount: 1000, mode: 'direct' } as const;

test('card: a tenth of the credit is held in the rolling reserve for ninety days, the rest clears after two', async () => {
  open({ clock: createManualClock() });
  const balances = async () => {
    const [wallet] = await stage.list('/data/wallet-balances?currency=USD');
    return names.map((name) => wallet?.[name]);
  };
  // 100.10 USD: charge 3.5 % = 3.50, credit 96.60, reserve 9.66.
  stage.collect({ currency: 'USD', provider_code: 'example_card_usd', amount: 100.1 });
  for (const [seconds, expected] of [
    [0, [0, 86.94, 9.66]],
    [2 * 86_400 - 1, [0, 86.94, 9.66]],
    [1, [86.94, 0, 9.66]],
    [88 * 86_400, [96.6, 0, 0]],
  ] as const) {
    stage.sandbox.advance(seconds);
    expect(await balances()).toEqual(expected);
  }
});

test('clearing early releases the uncleared balance only, unless the reserve is named', async () => {
  open();
  stage.collect({ provider_code: 'example_card_ugx', amount: 100_000 });
  stage.collect({ provider_code: 'example_card_usd', currency: 'USD', amount: 100 });
  for (const [body, released, ugx, usd] of [
    [{ currency: 'UGX' }, 1, [86_850, 0, 9650], [0, 86.85, 9.65]],
    [{ buckets: ['reserve'] }, 2, [96_500, 0, 0], [9.65, 86.85, 0]],
    [{}, 1, [96_500, 0, 0], [96.5, 0, 0]],
  ] as const) {
    const answer = await stage.call('POST', '/sandbox/clearing', body);
    const wallets = listOf(answer).filter(({ wallet_type: type }) => type === 'MERCHANT_COLLECTION');
    expect(answer.body.data['released']).toBe(released);
    expect(wallets.slice(1).map((wallet) => names.map((name) => wallet[name]))).toEqual([ugx, usd]);
  }
});

test('a payout needs available money in MERCHANT_PAYOUT, and a transfer needs it in MERCHANT_COLLECTION', () => {
  open();
  const refused = expect.objectContaining({ status: 422, reason: 'insufficient_balance' });
  const pay = () => stage.sandbox.payout(payout);
  const transfer = (amount: number) => () => stage.sandbox.transfer({ currency: 'UGX', amount });
  stage.collect({ amount: 2000 });
  // There are 1940 in the collection wallet now, and none in the payout wallet.
  expect(pay).toThrow(refused);
  expect(transfer(1941)).toThrow(refused);
  transfer(1940)();
  pay();
  expect(pay).toThrow(refused);
  // Uncleared money is not available.
  stage.collect({ provider_code: 'example_bank', amount: 5000 });
  expect(transfer(1)).toThrow(refused);
});

test('a refusal has its own name and code, and is not an answer of the service', () => {
  open();
  const refusal = { name: 'SandboxRefusal', code: 'sandbox_refusal', status: 422 };
  const transfer = () => stage.sandbox.transfer({ currency: 'UGX', amount: 1 });
  expect(transfer).toThrow(expect.objectContaining(refusal));
  expect(new SandboxRefusal('not_found', 'x')).not.toBeInstanceOf(ApiError);
  // A minifier renames classes.
  expect(String(new (class A extends SandboxRefusal {})('not_found', 'x'))).toBe('SandboxRefusal: x');
});

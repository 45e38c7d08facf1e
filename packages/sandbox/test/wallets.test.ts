import { ApiError } from '@payment-service/core/client';
import { expect, test } from 'vitest';
import { createSandbox, SandboxRefusal } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';

const names = ['available_balance', 'uncleared_balance', 'reserve_balance'] as const;

test('the sample of the contract: 500 UGX, charge 15, credit 485', () => {
  const { transaction } = createSandbox().collect(collection);
  expect(transaction).toMatchObject({ transaction_amount: 500, transaction_charge: 15, total_credit: 485 });
});

test('card: a tenth of the credit is held in the rolling reserve for ninety days, the rest clears after two', async () => {
  const sandbox = createSandbox({ clock: createManualClock() });
  const balances = async () => {
    const [wallet] = listOf(
      await call(sandbox, 'GET', '/data/wallet-balances?currency=USD'),
      'merchant_wallets',
    );
    return names.map((name) => wallet?.[name]);
  };
  // 100.10 USD: charge 3.5 % = 3.50, credit 96.60, reserve 9.66.
  sandbox.collect({ ...collection, currency: 'USD', provider_code: 'example_card_usd', amount: 100.1 });
  expect(await balances()).toEqual([0, 86.94, 9.66]);
  sandbox.advance(2 * 86_400 - 1);
  expect(await balances()).toEqual([0, 86.94, 9.66]);
  sandbox.advance(1);
  expect(await balances()).toEqual([86.94, 0, 9.66]);
  sandbox.advance(88 * 86_400);
  expect(await balances()).toEqual([96.6, 0, 0]);
  await sandbox.close();
});

test('clearing early releases the uncleared balance only, unless the reserve is named', async () => {
  const sandbox = createSandbox();
  sandbox.collect({ ...collection, provider_code: 'example_card_ugx', amount: 100_000 });
  sandbox.collect({ ...collection, provider_code: 'example_card_usd', currency: 'USD', amount: 100 });
  const clear = async (body: object) => {
    const answer = await call(sandbox, 'POST', '/sandbox/clearing', body);
    const wallets = listOf(answer, 'merchant_wallets').filter(
      ({ wallet_type: type }) => type === 'MERCHANT_COLLECTION',
    );
    return [
      answer.body.data['released'],
      ...wallets.map((wallet) => [wallet['currency'], ...names.map((name) => wallet[name])]),
    ];
  };
  expect(await clear({ currency: 'UGX' })).toEqual([
    1,
    ['KES', 0, 0, 0],
    ['UGX', 86_850, 0, 9650],
    ['USD', 0, 86.85, 9.65],
  ]);
  expect(await clear({ buckets: ['reserve'] })).toEqual([
    2,
    ['KES', 0, 0, 0],
    ['UGX', 96_500, 0, 0],
    ['USD', 9.65, 86.85, 0],
  ]);
  expect(await clear({})).toEqual([1, ['KES', 0, 0, 0], ['UGX', 96_500, 0, 0], ['USD', 96.5, 0, 0]]);
  await sandbox.close();
});

test('a payout needs available money in MERCHANT_PAYOUT, and a transfer needs it in MERCHANT_COLLECTION', async () => {
  const sandbox = createSandbox();
  const refused = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      if (error instanceof SandboxRefusal) return `${error.status} ${error.reason}`;
      throw error;
    }
    return 'not refused';
  };
  const payout = { ...collection, merchant_reference: 'PAY-1', amount: 1000, mode: 'direct' } as const;
  sandbox.collect({ ...collection, amount: 2000 });
  // There are 1940 in the collection wallet now, and none in the payout wallet.
  expect(refused(() => sandbox.payout(payout))).toBe('422 insufficient_balance');
  expect(refused(() => sandbox.transfer({ currency: 'UGX', amount: 1941 }))).toBe('422 insufficient_balance');
  sandbox.transfer({ currency: 'UGX', amount: 1940 });
  expect(refused(() => sandbox.payout(payout))).toBe('not refused');
  expect(refused(() => sandbox.payout(payout))).toBe('422 insufficient_balance');
  // Uncleared money is not available.
  sandbox.collect({ ...collection, provider_code: 'example_bank', amount: 5000 });
  expect(refused(() => sandbox.transfer({ currency: 'UGX', amount: 1 }))).toBe('422 insufficient_balance');
  await sandbox.close();
});

test('a failed payout returns the money, immediately or later', async () => {
  const sandbox = createSandbox();
  const available = async () => {
    const [, wallet] = listOf(
      await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX'),
      'merchant_wallets',
    );
    return wallet?.['available_balance'];
  };
  const payout = { ...collection, merchant_reference: 'PAY-1', amount: 1000 };
  sandbox.collect({ ...collection, amount: 5000 });
  sandbox.transfer({ currency: 'UGX', amount: 3000 });
  sandbox.payout({ ...payout, mode: 'direct', outcome: 'failed' });
  expect(await available()).toBe(3000);
  const { transaction } = sandbox.payout({ ...payout, mode: 'pending' });
  expect(await available()).toBe(2000);
  sandbox.decide(transaction.id, 'failed');
  expect(await available()).toBe(3000);
  await sandbox.close();
});

test('a refusal has its own name and code, and is not an answer of the service', async () => {
  const sandbox = createSandbox();
  const refusal = { name: 'SandboxRefusal', code: 'sandbox_refusal', status: 422 };
  expect(() => sandbox.transfer({ currency: 'UGX', amount: 1 })).toThrow(expect.objectContaining(refusal));
  expect(new SandboxRefusal('not_found', 'x')).not.toBeInstanceOf(ApiError);
  // A minifier renames classes.
  expect(String(new (class A extends SandboxRefusal {})('not_found', 'x'))).toBe('SandboxRefusal: x');
  await sandbox.close();
});

import { ApiError } from '@payment-service/core/client';
import { expect, test } from 'vitest';
import { type SandboxOptions, SandboxRefusal } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const open = (options: SandboxOptions = {}) => stage.open({ callbackUrl: undefined, ...options });
const names = ['available_balance', 'uncleared_balance', 'reserve_balance'] as const;

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

test('a refusal has its own name and code, and is not an answer of the service', () => {
  open();
  const refusal = { name: 'SandboxRefusal', code: 'sandbox_refusal', status: 422 };
  const transfer = () => stage.sandbox.transfer({ currency: 'UGX', amount: 1 });
  expect(transfer).toThrow(expect.objectContaining(refusal));
  expect(new SandboxRefusal('not_found', 'x')).not.toBeInstanceOf(ApiError);
  // A minifier renames classes.
  expect(String(new (class A extends SandboxRefusal {})('not_found', 'x'))).toBe('SandboxRefusal: x');
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { misbehaviours } from '../src/deliveries/misbehaviours.ts';
import { createManualClock } from './support/manual-clock.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage({});
const verdicts = (): string[] => stage.merchant.received.map(stage.verdict);

test('a duplicate: the same body and signature are sent again, one after the other', async () => {
  await stage.deliver({ misbehave: { duplicate: 2 } });
  const sent = stage.merchant.received.map(({ headers, body }) => `${headers['hmac-signature']} ${body}`);
  expect([verdicts(), new Set(sent).size]).toEqual([['ORD-1', 'ORD-1', 'ORD-1'], 1]);
  const words = stage.sandbox.deliveries().map(({ misbehaves }) => misbehaves);
  expect(words).toEqual([[], ['duplicate 1'], ['duplicate 2']]);
});

test('out of order as the default of the sandbox swaps pairs', async () => {
  stage.open({ clock: createManualClock(), misbehave: { out_of_order: true } });
  for (const first of [1, 3]) {
    stage.collect({ merchant_reference: `ORD-${first}` });
    await stage.deliver({ merchant_reference: `ORD-${first + 1}` });
  }
  expect(verdicts()).toEqual(['ORD-2', 'ORD-1', 'ORD-4', 'ORD-3']);
});

test('out of order: only a callback of another transaction releases the one that is held', async () => {
  stage.open({ clock: createManualClock(), misbehave: { out_of_order: true } });
  const { transaction } = stage.collect();
  const [held] = stage.sandbox.deliveries();
  const [copy] = stage.sandbox.compose(transaction.id, {});
  const stateOf = (id?: number) => stage.sandbox.deliveries().find((one) => one.id === id)?.state;
  await until(() => stateOf(copy?.id) === 'delivered');
  expect(stage.sandbox.deliveries()).toContainEqual(held);
  await stage.deliver({ merchant_reference: 'ORD-2' });
  expect(verdicts()).toEqual(['ORD-1', 'ORD-2', 'ORD-1']);
});

test('threat A2, threat A5: a body with a forged amount and a valid signature is sent first, then the genuine one', async () => {
  await stage.deliver({ misbehave: { forged_amount: 5_000_000, duplicate: 1 } });
  expect(verdicts()).toEqual(['ORD-1', 'ORD-1']);
  expect(stage.payloads()).toMatchObject([
    { request_amount: 5_000_000, transaction_charge: 15, total_credit: 4_999_985 },
    { request_amount: 500, transaction_charge: 15, total_credit: 485 },
  ]);
});

test('a forged currency with fewer decimals rounds the charge half up', async () => {
  const kenyan = { currency: 'KES', provider_code: 'savanna_mobile_money', account: '254711000001' };
  await stage.deliver({ ...kenyan, amount: 50, misbehave: { forged_currency: 'UGX' } });
  const forged = {
    transaction_currency: 'UGX',
    transaction_amount: 50,
    transaction_charge: 2,
    total_credit: 48,
  };
  expect(stage.payloads()).toMatchObject([forged]);
});

test('a lost callback is not sent, and can be sent later by a composition, which cannot be lost', async () => {
  const id = await stage.deliver({ misbehave: { lost: true, duplicate: 2 } });
  expect(stage.sandbox.deliveries()).toEqual([]);
  expect(() => stage.sandbox.compose(id, { lost: true } as never)).toThrow(/lost/);
  stage.sandbox.compose(id, {});
  await stage.sandbox.idle();
  expect(verdicts()).toEqual(['ORD-1']);
  expect(stage.payloads()[0]?.transaction_status).toBe('COMPLETED');
});

test('each misbehaviour has a control on the page of settings and a row in the README, and no other name has', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, table = ''] = /## Misbehaviour\n([\s\S]*?)\nYou can combine these/.exec(readme) ?? [];
  stage.open({ misbehave: { body: '{}' } });
  const settings = await stage.show('/settings');
  const has = (name: string): boolean[] => [
    settings.includes(`id="misbehaviour-${name}"`),
    new RegExp(`\`${name}[:\`]`).test(table),
  ];
  for (const name of misbehaviours.keys()) expect(has(name), name).toEqual([true, true]);
  expect(has('unknown')).toEqual([false, false]);
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { misbehaviours } from '../src/deliveries/misbehaviours.ts';
import { call, collection } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { open } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();

describe('misbehaviour', () => {
  test('duplicate: the same body and signature are sent again, one after the other', async () => {
    stage.open().collect({ ...collection, misbehave: { duplicate: 2 } });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1', 'ORD-1', 'ORD-1']);
    const sent = stage.merchant.received.map(({ headers, body }) => `${headers['hmac-signature']} ${body}`);
    expect(new Set(sent).size).toBe(1);
    expect(stage.sandbox.deliveries().map(({ misbehaves }) => misbehaves)).toEqual([
      [],
      ['duplicate 1'],
      ['duplicate 2'],
    ]);
  });

  test('late: nothing is sent before the time, then one callback', async () => {
    const clock = createManualClock();
    stage.open({ clock }).collect({ ...collection, misbehave: { late_ms: 10_000 } });
    expect(clock.sleeping()).toEqual([10_000]);
    clock.move(9999);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(stage.merchant.received).toHaveLength(0);
    clock.move(1);
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(1);
  });

  test('out of order: the callback is sent after that of the next transaction', async () => {
    stage.open({ clock: createManualClock() });
    stage.sandbox.collect({ ...collection, merchant_reference: 'ORD-1', misbehave: { out_of_order: true } });
    stage.sandbox.collect({ ...collection, merchant_reference: 'ORD-2' });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-2', 'ORD-1']);
  });

  test('out of order as the default of the sandbox swaps pairs', async () => {
    stage.open({ clock: createManualClock(), misbehave: { out_of_order: true } });
    for (const pair of [
      ['ORD-1', 'ORD-2'],
      ['ORD-3', 'ORD-4'],
    ]) {
      for (const merchant_reference of pair) stage.sandbox.collect({ ...collection, merchant_reference });
      await stage.sandbox.idle();
    }
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-2', 'ORD-1', 'ORD-4', 'ORD-3']);
  });

  test('out of order without another transaction: the callback is sent after a minute', async () => {
    const clock = createManualClock();
    stage.open({ clock }).collect({ ...collection, misbehave: { out_of_order: true } });
    expect(clock.sleeping()).toEqual([60_000]);
    clock.move(60_000);
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(1);
  });

  test('threat A2: forged amount: the amount differs, and the signature is valid', async () => {
    stage.open().collect({ ...collection, misbehave: { forged_amount: 5_000_000 } });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1']);
    expect(stage.merchant.received[0]?.data.payload).toMatchObject({
      request_amount: 5_000_000,
      transaction_amount: 5_000_000,
      transaction_charge: 15,
      total_credit: 4_999_985,
    });
  });

  test('threat A5: a forged body is sent first, then the genuine one', async () => {
    stage.open().collect({ ...collection, misbehave: { forged_amount: 1, duplicate: 1 } });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1', 'ORD-1']);
    expect(stage.merchant.received.map(({ data }) => data.payload.transaction_amount)).toEqual([1, 500]);
  });

  test('bad signature: it is well-formed, and refused by the verifier', async () => {
    stage.open({ retry: { max_attempts: 1 } }).collect({ ...collection, misbehave: { bad_signature: true } });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['mismatch']);
  });

  test('a request with {} has no misbehaviour, whatever the default of the sandbox', async () => {
    stage.open({ misbehave: { duplicate: 3 } }).collect({ ...collection, misbehave: {} });
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(1);
  });

  test('the default can be changed while the sandbox runs', async () => {
    stage.open();
    const answer = await call(stage.sandbox, 'PUT', '/sandbox/settings', { misbehave: { duplicate: 1 } });
    expect(answer.body.data).toMatchObject({ misbehave: { duplicate: 1 }, retry: {} });
    stage.sandbox.collect(collection);
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(2);
  });
});

describe('a callback that is lost', () => {
  test('is not sent, and can be sent later by a composition of its transaction', async () => {
    const { transaction } = stage.open().collect({ ...collection, misbehave: { lost: true, duplicate: 2 } });
    await stage.sandbox.idle();
    expect(stage.sandbox.deliveries()).toEqual([]);
    expect(transaction.transaction_status).toBe('COMPLETED');
    stage.sandbox.compose(transaction.id, {});
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1']);
  });

  test('cannot be composed, since nothing would be sent', () => {
    const { transaction } = stage.open().collect(collection);
    expect(() => stage.sandbox.compose(transaction.id, { lost: true } as never)).toThrow(/lost/);
  });
});

describe('a misbehaviour is declared once', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, table = ''] = /### Misbehaviour\n([\s\S]*?)\nAll of it combines/.exec(readme) ?? [];

  test.each([...misbehaviours])(
    '%s has a control on the page of settings, and a row in the README',
    async (name) => {
      const sandbox = stage.open({ misbehave: { body: '{}' } });
      const { text } = await open(sandbox, '/settings');
      expect(text).toContain(`id="misbehaviour-${name}"`);
      expect(table).toMatch(new RegExp(`\`${name}[:\`]`));
    },
  );

  test('an undeclared name has neither', async () => {
    expect((await open(stage.open(), '/settings')).text).not.toContain('id="misbehaviour-unknown"');
    expect(table).not.toContain('unknown');
  });
});

import { describe, expect, test } from 'vitest';
import { call, collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();

describe('a callback', () => {
  test('is a signed POST that the verifier of core accepts', async () => {
    stage.open().collect({ ...collection, merchant_reference: 'ORD-7' });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /callbacks',
    ]);
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-7']);
    expect(stage.merchant.received[0]?.data.event).toBe('transaction.completed');
    expect(stage.merchant.received[0]?.data.payload.transaction_status).toBe('COMPLETED');
  });

  test('of a failed transaction has the status FAILED (simulated)', async () => {
    stage.open().collect({ ...collection, outcome: 'failed' });
    await stage.sandbox.idle();
    expect(stage.merchant.received[0]?.data.event).toBe('transaction.failed');
    expect(stage.merchant.received[0]?.data.payload.transaction_status).toBe('FAILED');
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1']);
  });

  test('is not sent while the transaction is pending, nor without an address', async () => {
    stage.open({ callbackUrl: undefined }).collect(collection);
    const { transaction } = stage.sandbox.collect({
      ...collection,
      callback_url: stage.merchant.url,
      mode: 'pending',
    });
    expect(stage.sandbox.deliveries()).toEqual([]);
    stage.sandbox.decide(transaction.id, 'completed');
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(1);
  });

  test('has t in seconds, or in milliseconds if set', async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 2));
    stage.open({ clock }).collect(collection);
    await stage.sandbox.idle();
    expect(stage.merchant.received[0]?.headers['hmac-signature']).toMatch(/^t=1767312000,s=/);
    await stage.sandbox.close();
    stage.open({ clock, timestampUnit: 'milliseconds' }).collect(collection);
    await stage.sandbox.idle();
    expect(stage.merchant.received[1]?.headers['hmac-signature']).toMatch(/^t=1767312000000,s=/);
  });
});

describe('the queue', () => {
  test('release sends late, held and retried deliveries', async () => {
    stage.open({ clock: createManualClock() });
    stage.sandbox.collect({ ...collection, misbehave: { late_ms: 100_000 } });
    stage.sandbox.collect({ ...collection, misbehave: { out_of_order: true } });
    const answer = await call(stage.sandbox, 'POST', '/sandbox/deliveries/release');
    expect(answer.body.data).toEqual({ released: 2 });
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(2);
  });

  test('moving the clock sends what becomes due', async () => {
    stage.open().collect({ ...collection, misbehave: { late_ms: 86_400_000 } });
    stage.sandbox.advance(86_400);
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(1);
  });

  test('a delivery can be sent again', async () => {
    stage.open().collect(collection);
    await stage.sandbox.idle();
    const [{ id } = { id: 0 }] = stage.sandbox.deliveries();
    const again = await call(stage.sandbox, 'POST', `/sandbox/deliveries/${id}/resend`);
    expect(again.status).toBe(201);
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1', 'ORD-1']);
    expect((await call(stage.sandbox, 'POST', '/sandbox/deliveries/9/resend')).status).toBe(404);
  });

  test('is listed with attempts, by transaction', async () => {
    const { transaction } = stage.open().collect(collection);
    stage.sandbox.collect({ ...collection, merchant_reference: 'ORD-2' });
    await stage.sandbox.idle();
    const list = listOf(
      await call(stage.sandbox, 'GET', `/sandbox/deliveries?transaction_id=${transaction.id}`),
      'deliveries',
    );
    expect(list).toHaveLength(1);
    expect(list[0]).toMatchObject({
      transaction_id: transaction.id,
      url: stage.merchant.url,
      state: 'delivered',
      due_at: null,
    });
    expect(list[0]?.['attempts']).toMatchObject([
      { at: expect.any(String), status: 200, error: null, response: { body: '{"status":"accepted"}' } },
    ]);
  });

  test('an attempt that could not be recorded is reported, and repeated after a pause', async () => {
    const manual = createManualClock();
    const failure = new Error('disk full');
    const errors: unknown[] = [];
    let broken = false;
    const now = (): number => {
      if (broken) throw failure;
      return manual.now();
    };
    stage.merchant.answer = (response) => {
      broken = stage.merchant.received.length === 1;
      response.end();
    };
    stage
      .open({ clock: { now, sleep: manual.sleep }, onError: (error) => errors.push(error) })
      .collect(collection);
    await until(() => manual.sleeping().length > 0);
    expect(errors).toEqual([failure]);
    expect(manual.sleeping()).toEqual([1000]);
    broken = false;
    manual.move(1000);
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(2);
    expect(stage.sandbox.deliveries()[0]?.state).toBe('delivered');
  });

  test('many deliveries that are sent together arrive once each', async () => {
    stage.open();
    const references = Array.from({ length: 100 }, (_, index) => `ORD-${index}`);
    for (const merchant_reference of references) stage.sandbox.collect({ ...collection, merchant_reference });
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict).sort()).toEqual([...references].sort());
  });

  test('reset empties everything, even with an attempt in flight', async () => {
    let release: (() => void) | undefined;
    stage.merchant.answer = (response) => {
      release = () => response.end();
    };
    stage.open().collect(collection);
    await until(() => release !== undefined);
    const answer = await call(stage.sandbox, 'POST', '/sandbox/reset');
    expect(answer.status).toBe(200);
    release?.();
    await stage.sandbox.idle();
    expect(stage.sandbox.deliveries()).toEqual([]);
    const { transaction } = stage.sandbox.collect({
      ...collection,
      callback_url: undefined,
      mode: 'pending',
    });
    // Numbers are never given out twice, so a merchant's software cannot mistake a new transaction for an old one.
    expect(transaction.id).toBeGreaterThan(1001);
  });
});

describe('numbers', () => {
  test('the first delivery is number 1, the first transaction 1001, and no number means both', async () => {
    stage.open({ clock: createManualClock(), misbehave: { late_ms: 1000 } });
    const first = stage.sandbox.collect(collection).transaction.id;
    const numbers = (): number[] => stage.sandbox.deliveries().map(({ id }) => id);
    expect([first, ...numbers()]).toEqual([1001, 1]);
    // More deliveries than there are numbers below the first transaction's.
    while (numbers().length < 999) stage.sandbox.compose(first, { duplicate: 1 });
    const transactions = [first];
    for (let more = 0; more < 3; more += 1) {
      const { transaction } = stage.sandbox.collect({ ...collection, merchant_reference: `ORD-${more}` });
      transactions.push(transaction.id);
      stage.sandbox.compose(first, {});
    }
    const deliveries = numbers();
    expect(deliveries.slice(998, 1001)).toEqual([999, 1000, 1003]);
    expect(deliveries).toEqual([...deliveries].sort((a, b) => a - b));
    expect(new Set([...deliveries, ...transactions]).size).toBe(deliveries.length + transactions.length);
    for (const id of transactions) {
      const [composed] = stage.sandbox.compose(id, { forged_amount: 1 });
      expect([composed?.transaction_id, composed?.origin]).toEqual([id, null]);
    }
  });
});

describe('close', () => {
  test('waits for the delivery in flight, and stops those that wait', async () => {
    const clock = createManualClock();
    let release: (() => void) | undefined;
    stage.merchant.answer = (response) => {
      release = () => response.end();
    };
    stage.open({ clock });
    stage.sandbox.collect({ ...collection, misbehave: { late_ms: 1000 } });
    stage.sandbox.collect(collection);
    await until(() => release !== undefined);
    let isClosed = false;
    const closing = stage.sandbox.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).toBe(false);
    release?.();
    await closing;
    expect(clock.sleeping()).toEqual([]);
    clock.move(10_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(stage.merchant.received).toHaveLength(1);
  });

  test('may be called twice, and the sandbox refuses calls afterwards', async () => {
    stage.open();
    await Promise.all([stage.sandbox.close(), stage.sandbox.close()]);
    expect(() => stage.sandbox.collect(collection)).toThrow('The sandbox is closed. Create another one.');
    await expect(stage.sandbox.fetch('http://127.0.0.1/')).rejects.toThrow('The sandbox is closed.');
    await expect(stage.sandbox.listen()).rejects.toThrow('The sandbox is closed.');
  });
});

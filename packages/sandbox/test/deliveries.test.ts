import { expect, test } from 'vitest';
import { createSandbox, type Sandbox, type SandboxDelivery } from '../src/index.ts';
import { collection } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage({});

/** From now on the merchant responds only when released. */
function holdAnswers(): { isAsked(): boolean; release(): void } {
  let release: (() => void) | undefined;
  stage.merchant.answer = (response) => {
    release = () => response.end();
  };
  return { isAsked: () => release !== undefined, release: () => release?.() };
}

test('a callback is not sent while the transaction is pending, nor without an address', async () => {
  stage.open({ callbackUrl: undefined });
  stage.collect();
  const { transaction } = stage.collect({ callback_url: stage.merchant.url, mode: 'pending' });
  expect(stage.sandbox.deliveries()).toEqual([]);
  stage.sandbox.decide(transaction.id, 'completed');
  await stage.sandbox.idle();
  expect(stage.merchant.received).toHaveLength(1);
});

test('a callback has t in the configured unit', async () => {
  stage.open({ clock: createManualClock(Date.UTC(2026, 0, 2)), timestampUnit: 'milliseconds' });
  await stage.deliver();
  expect(stage.merchant.received[0]?.headers['hmac-signature']).toMatch(/^t=1767312000000,s=/);
});

test('a delivery is sent again once it is through, and only then', async () => {
  const resend = async (id = 1) => (await stage.call('POST', `/sandbox/deliveries/${id}/resend`)).status;
  const { isAsked, release } = holdAnswers();
  stage.collect();
  await until(isAsked);
  expect([await resend(), await resend(9)]).toEqual([409, 404]);
  release();
  await stage.sandbox.idle();
  stage.answer(200);
  expect(await resend()).toBe(201);
  await stage.sandbox.idle();
  expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1', 'ORD-1']);
});

test('onAttempt is called after each attempt with its outcome, and what it throws goes to onError', async () => {
  const seen: unknown[] = [];
  const errors: unknown[] = [];
  const onAttempt = ({ id, attempts }: SandboxDelivery): void => {
    seen.push([id, attempts.length, attempts.at(-1)?.status, attempts.at(-1)?.outcome.tone]);
    throw new Error(`attempt ${attempts.length}`);
  };
  const retry = { max_attempts: 2, backoff_ms: 1 };
  stage.open({ onAttempt, retry, onError: (error) => errors.push(error) });
  stage.answer(500);
  await stage.deliver();
  expect(seen).toEqual([
    [1, 1, 500, 'bad'],
    [1, 2, 500, 'bad'],
  ]);
  expect(errors).toEqual([new Error('attempt 1'), new Error('attempt 2')]);
});

test('reset empties everything, even with an attempt in flight', async () => {
  const { isAsked, release } = holdAnswers();
  stage.collect();
  await until(isAsked);
  expect((await stage.call('POST', '/sandbox/reset')).status).toBe(200);
  release();
  await stage.sandbox.idle();
  expect(stage.sandbox.deliveries()).toEqual([]);
  // Numbers are never given out twice, so a merchant's software cannot mistake a new transaction for an old one.
  expect(stage.collect({ mode: 'pending' }).transaction.id).toBeGreaterThan(1001);
});

test('close() waits for the delivery in flight, and stops those that wait', async () => {
  const clock = createManualClock();
  const { isAsked, release } = holdAnswers();
  stage.open({ clock });
  stage.collect({ misbehave: { late_ms: 1000 } });
  stage.collect();
  await until(isAsked);
  let isClosed = false;
  const closing = stage.sandbox.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isClosed).toBe(false);
  release();
  await closing;
  expect(clock.sleeping()).toEqual([]);
  expect(stage.merchant.received).toHaveLength(1);
});

test('close() ends the wait of an answer that the settings delay', async () => {
  const clock = createManualClock();
  stage.open({ clock });
  await stage.call('PUT', '/sandbox/settings', { api_latency_ms: 1000 });
  const answer = stage.call('GET', '/data/wallet-balances');
  await until(() => clock.sleeping().length === 1);
  await stage.sandbox.close();
  expect((await answer).status).toBe(200);
});

test('close() may be called twice, and the sandbox refuses calls afterwards', async () => {
  const { sandbox } = stage;
  await Promise.all([sandbox.close(), sandbox.close()]);
  expect(() => sandbox.collect(collection)).toThrow('The sandbox is closed. Create another one.');
  await expect(sandbox.fetch('http://127.0.0.1/')).rejects.toThrow('The sandbox is closed.');
  await expect(sandbox.listen()).rejects.toMatchObject({ code: 'closed' });
});

test('await using closes a sandbox at the end of its block', async () => {
  const ended = async (): Promise<Sandbox> => {
    await using sandbox = createSandbox();
    sandbox.collect(collection);
    return sandbox;
  };
  const sandbox = await ended();
  expect(() => sandbox.deliveries()).toThrow('The sandbox is closed.');
});

import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { createCallbackReceiver } from '@payment-service/core/receive';
import { expect, onTestFinished, test } from 'vitest';
import type { Inbox, InboxEvent } from '../../src/index.ts';
import type { AttemptTrace } from '../../src/work/attempt/attempt-trace.ts';
import { paid, post, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { LATER, MINUTE_MS, newShop, ORDER } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const [PARENT, OTHER, SPAN] = [1, 2, 3].map((n) => `00-${`${n}`.repeat(32)}-${`${n}`.repeat(16)}-01`);
const ignore = (): void => {};
const QUIET = { start: ignore, end: ignore, asyncStart: ignore, asyncEnd: ignore, error: ignore };

function subscribeTo(
  what: string,
  listeners: Partial<Record<keyof typeof QUIET, (message: unknown) => void>>,
): void {
  const subscriber = { ...QUIET, ...listeners };
  const tracing = tracingChannel(`payment-service:${what}`);
  tracing.subscribe(subscriber);
  onTestFinished(() => void tracing.unsubscribe(subscriber));
}

/** The last message of every attempt. A traceparent is kept only while callbacks are traced as well. */
function attempts(): AttemptTrace[] {
  const seen: AttemptTrace[] = [];
  subscribeTo('callback', {});
  subscribeTo('attempt', { asyncEnd: (message) => void seen.push({ ...(message as AttemptTrace) }) });
  return seen;
}

/** Posts the callback of ORDER. */
function postOrder<Tx>(
  inbox: Inbox<Tx>,
  headers: Record<string, string>,
  amount = 500,
  rules: { readonly toleranceSeconds?: number; readonly now?: () => number } = {},
): Promise<number | undefined> {
  const amounts = { request_amount: amount, transaction_amount: amount };
  const signed = signedText({ merchant_reference: 'ORD-1', internal_reference: 'INT-ORD-1', ...amounts });
  const handlers = { ...inbox.route };
  return post(createCallbackReceiver({ signingKey: SIGNING_KEY, ...handlers, ...rules }), signed, headers);
}

test.each(ENGINES)('an attempt names the requests of its bodies, and its outcome, on %s', async (engine) => {
  const seen = attempts();
  const { inbox, show } = await newShop(engine);
  await inbox.expect(ORDER);
  // First one with a wrong amount, so that there are two bodies.
  expect(await postOrder(inbox, { traceparent: `${OTHER}` }, 499)).toBe(200);
  await workOff(inbox);
  expect(await postOrder(inbox, { traceparent: `${PARENT}` })).toBe(200);
  expect(await postOrder(inbox, { traceparent: `${SPAN}` })).toBe(200);
  await workOff(inbox);
  const { transitionId } = paid('ORD-1', 500);
  // A start that was taken back, as happens next to another worker, is not an attempt.
  const [parked, settled] = [seen.find(({ outcome }) => outcome !== 'undone'), seen.at(-1)];
  const common = { transitionId, attempt: 1, isFailed: false, durationMs: expect.any(Number) };
  const why = { outcome: 'parked', state: 'quarantined', reason: 'amount_mismatch' };
  expect(parked).toEqual({ ...common, ...why, traceparents: [OTHER] });
  expect(settled).toEqual({
    ...common,
    outcome: 'settled',
    state: 'settled',
    traceparents: [OTHER, PARENT],
  });
  // The traceparent of a repetition is not kept.
  expect((await show())?.bodies.map(({ traceparent }) => traceparent)).toEqual([OTHER, PARENT]);
});

test('an attempt links to the span that a subscriber has made of the callback, and evidence keeps the one of its request', async () => {
  const seen = attempts();
  const { inbox } = await newShop('sqlite');
  const tooLate = { toleranceSeconds: 30, now: () => Date.now() + MINUTE_MS };
  expect(await postOrder(inbox, { traceparent: `${PARENT}` }, 400, tooLate)).toBe(200);
  const [{ transitionId = '' } = {}] = await inbox.reports({ reason: 'timestamp_out_of_tolerance' });
  expect((await inbox.report(transitionId))?.bodies).toMatchObject([{ traceparent: PARENT }]);
  subscribeTo('callback', { start: (message) => Object.assign(message as object, { span: SPAN }) });
  await inbox.expect(ORDER);
  await postOrder(inbox, { traceparent: `${PARENT}` });
  await workOff(inbox);
  expect(seen).toMatchObject([{ outcome: 'settled', traceparents: [PARENT, SPAN] }]);
});

test('a failed attempt and every event are published, without the error of the handler', async () => {
  const seen = attempts();
  const failed: unknown[] = [];
  const events: InboxEvent[] = [];
  const listen = (event: unknown): number => events.push(event as InboxEvent);
  subscribe('payment-service:inbox', listen);
  onTestFinished(() => void unsubscribe('payment-service:inbox', listen));
  subscribeTo('attempt', { error: (message) => failed.push(message) });
  const options = { ...LATER, retry: { ...LATER.retry, attempts: 2 } };
  const { merchant, inbox, workLater } = await newShop('sqlite', options, () => {
    throw Object.assign(new Error('+256772999888'), { name: 'GraceNakato', code: '256772999888' });
  });
  await inbox.expect(ORDER);
  await postOrder(inbox, {});
  await workOff(inbox);
  await workLater(2 * MINUTE_MS);
  expect(seen).toMatchObject([
    { attempt: 1, outcome: 'retrying', state: 'retrying', isFailed: true, traceparents: [] },
    { attempt: 2, outcome: 'parked', state: 'dead', reason: 'attempts_used_up', isFailed: true },
  ]);
  expect(failed).toHaveLength(2);
  expect(JSON.stringify([seen, events])).not.toMatch(/256772999888|Nakato/);
  const told = merchant.events.map((event) => ({ ...event, failure: undefined }));
  expect(events).toEqual(expect.arrayContaining(told));
  expect(events.map(({ name }) => name)).toContain('callback.received');
});

test('threat A58: a subscriber that throws changes no result', async () => {
  const others = process.listeners('uncaughtException');
  const errors: unknown[] = [];
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  const fail = (): never => {
    throw new Error('subscriber');
  };
  for (const what of ['callback', 'attempt'])
    subscribeTo(what, { start: fail, end: fail, asyncStart: fail, asyncEnd: fail, error: fail });
  subscribe('payment-service:inbox', fail);
  onTestFinished(() => void unsubscribe('payment-service:inbox', fail));
  const { merchant, inbox, show } = await newShop('sqlite');
  await inbox.expect(ORDER);
  expect(await postOrder(inbox, { traceparent: `${PARENT}` })).toBe(200);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['ORD-1 500']);
  expect(await show()).toMatchObject({ state: 'settled', attempts: 1, bodies: [{ traceparent: PARENT }] });
  expect(errors.length).toBeGreaterThan(8);
});

import { describe, expect, test } from 'vitest';
import type { CallbackPreview } from '../src/deliveries/composition.ts';
import type { SandboxDelivery, SandboxOptions } from '../src/index.ts';
import type { Composition } from '../src/state/misbehaviour.ts';
import { listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const START = Date.UTC(2026, 0, 2);

/** A completed collection of 500 UGX whose callback has arrived. */
function opened(options: SandboxOptions = {}): Promise<number> {
  stage.open({ clock: createManualClock(START), retry: { preset: 'none' }, ...options });
  return stage.deliver();
}

/** What the merchant receives from a composition: the verifier's verdict, `t` and the payload. */
async function sent(id: number, changes: Composition) {
  stage.merchant.received.length = 0;
  const deliveries = stage.sandbox.compose(id, changes);
  await stage.sandbox.idle();
  const [first] = stage.merchant.received;
  if (first === undefined) throw new Error('nothing arrived');
  const signature = String(first.headers['hmac-signature']);
  const { event, payload } = first.data;
  return { deliveries, verdict: stage.verdict(first), event, payload, body: first.body, signature };
}

const deliveryOf = (id: number): SandboxDelivery => {
  const found = stage.sandbox.deliveries().find((one) => one.transaction_id === id);
  if (found === undefined) throw new Error('there is no delivery');
  return found;
};

async function preview(of: string, id: number, changes: Composition): Promise<CallbackPreview> {
  const { body } = await stage.call('POST', `/sandbox/${of}/${id}/preview`, changes);
  return Object(body.data['preview']);
}

describe('a composition with a new signature', () => {
  test.each<[Composition, object]>([
    [{ forged_amount: 9 }, { transaction_amount: 9, total_credit: -6, transaction_currency: 'UGX' }],
    [
      { forged_currency: 'USD' },
      { request_currency: 'USD', transaction_amount: 500, transaction_charge: 15, total_credit: 485 },
    ],
    [
      { forged_amount: 20.25, forged_currency: 'KES' },
      { transaction_currency: 'KES', request_amount: 20.25, transaction_charge: 15, total_credit: 5.25 },
    ],
    [{ status: 'REVERSED' }, { transaction_status: 'REVERSED' }],
    [{ event: 'transaction.reversed' }, { event: 'transaction.reversed' }],
    [{ extra_fields: { a: [1], id: 'x' } }, { a: [1], id: 'x' }],
  ])('of %j has these fields: %j', async (changes, expected) => {
    const { verdict, event, payload } = await sent(await opened(), changes);
    expect(verdict).toBe('ORD-1');
    expect({ event, ...payload }).toMatchObject(expected);
  });

  test('has t with an offset, and in another unit; both combine with every other change', async () => {
    const id = await opened();
    expect((await sent(id, { t_offset_seconds: -3600 })).signature).toMatch(/^t=1767308400,/);
    expect((await sent(id, { t_unit: 'milliseconds' })).signature).toMatch(/^t=1767312000000,/);
    const changes = { t_unit: 'milliseconds', t_offset_seconds: 1, forged_amount: 7, duplicate: 2 } as const;
    const all = await sent(id, changes);
    expect([all.verdict, all.signature]).toEqual(['ORD-1', expect.stringMatching(/^t=1767312001000,/)]);
    expect(stage.payloads().map(({ transaction_amount }) => transaction_amount)).toEqual([7, 500, 500]);
    const words = ['forged amount', 't in milliseconds', 't 1 seconds off'];
    expect(all.deliveries.map(({ misbehaves }) => misbehaves)).toEqual(
      [words, ['duplicate 1'], ['duplicate 2']].map((more) => [`composed from ${id}`, ...more]),
    );
  });
});

describe('a composition that keeps the signature', () => {
  test('of the callback no longer matches its body', async () => {
    const id = await opened();
    const genuine = deliveryOf(id).signature;
    const { verdict, signature } = await sent(id, { signature: 'keep', status: 'FAILED' });
    expect([verdict, signature]).toEqual(['mismatch', genuine]);
    expect((await sent(id, { signature: 'keep', forged_amount: 1 })).verdict).toBe('ORD-1');
    const moved = await sent(id, { signature: 'keep', t_offset_seconds: 60 });
    expect(moved.signature).toBe(genuine.replace('t=1767312000', 't=1767312060'));
  });

  test('of a delivery starts from the body of that delivery', async () => {
    const first = deliveryOf(await opened({ misbehave: { forged_amount: 3, bad_signature: true } }));
    const shown = await preview('deliveries', first.id, { signature: 'keep', extra_fields: { a: 1 } });
    expect(shown).toMatchObject({ signature: first.signature, key: 'other', verifies: false });
    expect(JSON.parse(shown.body).payload).toMatchObject({ transaction_amount: 3, a: 1 });
  });
});

test('a composition needs an existing transaction, and an address to send to', async () => {
  const id = await opened({ callbackUrl: undefined });
  expect(() => stage.sandbox.compose(7, {})).toThrow('There is no such transaction or delivery.');
  expect(() => stage.sandbox.compose(id, {})).toThrow(/^callback_url: is required/);
  await stage.call('PUT', '/sandbox/settings', { callback_url: stage.merchant.url });
  expect((await sent(id, {})).verdict).toBe('ORD-1');
});

const again = async (body = {}) => {
  const answer = await stage.call('POST', '/sandbox/deliveries/resend-failed', body);
  await stage.sandbox.idle();
  return listOf(answer).map(({ origin }) => origin);
};

test('sending again all that failed sends each once, unchanged, and leaves out what was already sent again or failed earlier', async () => {
  const clock = createManualClock(START);
  const id = await opened({ clock, callbackUrl: undefined });
  stage.answer(500);
  const failed: number[] = [];
  for (const changes of [{ forged_amount: 1 }, { forged_amount: 2 }, {}]) {
    const composed = stage.sandbox.compose(id, { callback_url: stage.merchant.url, ...changes });
    failed.push(...composed.map((one) => one.id));
    await stage.sandbox.idle();
    clock.move(1000);
  }
  stage.answer(200);
  stage.merchant.received.length = 0;
  expect(await again({ since: '2026-01-02T00:00:01Z' })).toEqual(failed.slice(1));
  expect(await again()).toEqual(failed.slice(0, 1));
  expect(await again()).toEqual([]);
  expect(stage.payloads().map(({ transaction_amount }) => transaction_amount)).toEqual([2, 500, 1]);
  expect(new Set(stage.merchant.received.map(stage.verdict))).toEqual(new Set(['ORD-1']));
});

test('a value that is edited in place changes itself and the signature; every other character is sent unchanged', async () => {
  const base =
    '{ "event":"transaction.completed",\n"payload": {"id":1.0, "a":"x","a":"y", "note":"\\u00e9 \\"q\\"", "deep":{"b": null}}, "x":-0}';
  const of = await opened();
  const [{ id } = { id: 0 }] = stage.sandbox.compose(of, { body: base });
  await stage.sandbox.idle();
  for (const [path, typed, was, becomes] of [
    ['payload.id', '2.50', '1.0', '2.50'],
    ['payload.note', 'a "b" \\ é', '"\\u00e9 \\"q\\""', '"a \\"b\\" \\\\ é"'],
    ['payload.deep.b', '{"c":1}', 'null', '{"c":1}'],
    ['x', 'not json', '-0', 'not json'],
  ] as const) {
    await stage.submit(`compose/${id}`, { base: base.replaceAll('\n', '\r\n'), [`value.${path}`]: typed });
    await stage.sandbox.idle();
    expect(stage.merchant.received.at(-1)?.body).toBe(base.replace(was, becomes));
  }
});

import { describe, expect, test } from 'vitest';
import type { CallbackPreview } from '../src/deliveries/compose.ts';
import type { SandboxDelivery, SandboxOptions } from '../src/index.ts';
import type { Composition } from '../src/state/misbehaviour.ts';
import { call, collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { submit } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const START = Date.UTC(2026, 0, 2);

/** A completed collection of 500 UGX whose callback has arrived. */
async function opened(options: SandboxOptions = {}): Promise<number> {
  stage.open({ clock: createManualClock(START), retry: { preset: 'none' }, ...options });
  const { transaction } = stage.sandbox.collect(collection);
  await stage.sandbox.idle();
  return transaction.id;
}

/** What arrives of a composition: the verifier's word, `t` and the payload. */
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
  const { body } = await call(stage.sandbox, 'POST', `/sandbox/${of}/${id}/preview`, changes);
  return Object(body.data['preview']);
}

describe('a composition with a new signature', () => {
  test.each<[string, Composition, object]>([
    [
      'an amount',
      { forged_amount: 9 },
      { transaction_amount: 9, total_credit: -6, transaction_currency: 'UGX' },
    ],
    [
      'a currency, with a consistent total',
      { forged_currency: 'USD' },
      { request_currency: 'USD', transaction_amount: 500, transaction_charge: 15, total_credit: 485 },
    ],
    [
      'both',
      { forged_amount: 20.25, forged_currency: 'KES' },
      { transaction_currency: 'KES', request_amount: 20.25, transaction_charge: 15, total_credit: 5.25 },
    ],
    ['a status', { status: 'REVERSED' }, { transaction_status: 'REVERSED' }],
    ['an extra field', { extra_fields: { a: [1], id: 'x' } }, { a: [1], id: 'x' }],
  ])('%s', async (_, changes, expected) => {
    const { verdict, payload } = await sent(await opened(), changes);
    expect(verdict).toBe('ORD-1');
    expect(payload).toMatchObject(expected);
  });

  test('an event', async () => {
    const { verdict, event } = await sent(await opened(), { event: 'transaction.reversed' });
    expect([verdict, event]).toEqual(['ORD-1', 'transaction.reversed']);
  });

  test('has t with an offset, and in another unit; both combine with every other change', async () => {
    const id = await opened();
    expect((await sent(id, { t_offset_seconds: -3600 })).signature).toMatch(/^t=1767308400,/);
    expect((await sent(id, { t_unit: 'milliseconds' })).signature).toMatch(/^t=1767312000000,/);
    const all = await sent(id, {
      t_unit: 'milliseconds',
      t_offset_seconds: 1,
      forged_amount: 7,
      duplicate: 2,
    });
    expect(all.signature).toMatch(/^t=1767312001000,/);
    expect(all.verdict).toBe('ORD-1');
    expect(stage.merchant.received.map(({ data }) => data.payload.transaction_amount)).toEqual([7, 500, 500]);
    expect(all.deliveries.map(({ misbehaves }) => misbehaves)).toEqual([
      [`composed from ${id}`, 'forged amount', 't in milliseconds', 't 1 seconds off'],
      [`composed from ${id}`, 'duplicate 1'],
      [`composed from ${id}`, 'duplicate 2'],
    ]);
  });

  test('with another key', async () => {
    const { verdict, deliveries } = await sent(await opened(), { bad_signature: true });
    expect(verdict).toBe('mismatch');
    expect(deliveries[0]?.misbehaves).toContain('bad signature');
  });

  test('an edited body, even one that is not JSON', async () => {
    const id = await opened();
    const { body } = deliveryOf(id);
    const edited = body.replace('ORD-1', 'ORD-2').replace('{', '{ ');
    expect(await sent(id, { body: edited })).toMatchObject({ verdict: 'ORD-2', body: edited });
    const merchantOnly = { body: 'not json \ud800', callback_url: stage.merchant.url };
    expect((await preview('transactions', id, merchantOnly)).body).toBe('not json \ufffd');
  });

  test('keeps the signature of the genuine callback if a signed field is missing', async () => {
    const id = await opened();
    for (const omit_fields of [['transaction_status'], ['event'], ['merchant_reference', 'id']]) {
      const shown = await preview('transactions', id, { omit_fields });
      expect(shown).toMatchObject({ verifies: false, refusal: { code: 'signed_field_malformed' } });
      expect(shown.signed.merchant_reference).toBe('ORD-1');
      for (const name of omit_fields) expect(shown.body).not.toContain(`"${name}":`);
    }
  });

  test('combines repetition, delay and order', async () => {
    const id = await opened();
    const deliveries = stage.sandbox.compose(id, { late_ms: 5000, out_of_order: true, duplicate: 1 });
    expect(deliveries.map(({ due_at }) => due_at)).toEqual(['2026-01-02T00:01:00.000Z', null]);
    expect(deliveries[0]?.misbehaves).toEqual([`composed from ${id}`, 'late', 'out of order']);
  });

  test('can be sent to another address, by separate retry rules', async () => {
    const id = await opened();
    const [delivery] = stage.sandbox.compose(id, {
      callback_url: `${stage.merchant.url}/other`,
      retry: { max_attempts: 2, backoff_ms: 0, preset: 'not-2xx' },
    });
    stage.merchant.answer = (response) => response.writeHead(500).end();
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(({ path }) => path)).toEqual([
      '/callbacks',
      '/callbacks/other',
      '/callbacks/other',
    ]);
    expect(delivery?.origin).toBeNull();
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
    const id = await opened({ misbehave: { forged_amount: 3, bad_signature: true } });
    const first = deliveryOf(id);
    const shown = await preview('deliveries', first.id, { signature: 'keep', extra_fields: { a: 1 } });
    expect(shown).toMatchObject({ signature: first.signature, key: 'other', verifies: false });
    expect(JSON.parse(shown.body).payload).toMatchObject({ transaction_amount: 3, a: 1 });
    const anew = await preview('deliveries', first.id, { extra_fields: { a: 1 } });
    expect(anew).toMatchObject({ key: 'account', verifies: true, refusal: null });
    expect(JSON.parse(anew.body).payload.transaction_amount).toBe(3);
  });
});

describe('a preview', () => {
  test('shows exactly what is sent later, and sends nothing', async () => {
    const id = await opened();
    const changes = { forged_amount: 8, t_offset_seconds: -5 };
    const shown = await preview('transactions', id, changes);
    expect(stage.merchant.received).toHaveLength(1);
    expect(shown.signed_string).toBe(Object.values(shown.signed).join(':'));
    const { body, signature, deliveries } = await sent(id, changes);
    expect([body, signature, deliveries[0]?.url]).toEqual([shown.body, shown.signature, shown.url]);
    expect(deliveries[0]?.signed).toEqual(shown.signed);
  });

  test.each([
    ['an unknown change', { explode: true }, 400, 'explode'],
    ['an amount that is not exact', { forged_amount: 0.5 }, 400, 'forged_amount'],
    ['an invalid currency', { forged_currency: 'Shilling' }, 400, 'forged_currency'],
    ['an address elsewhere', { callback_url: 'http://example.com/' }, 422, 'callback_url'],
  ])('refuses %s, as sending it does', async (_, changes, status, field) => {
    const id = await opened();
    for (const what of ['preview', 'compose']) {
      const answer = await call(stage.sandbox, 'POST', `/sandbox/transactions/${id}/${what}`, changes);
      expect([answer.status, answer.body.data['field']]).toEqual([status, field]);
    }
    expect(stage.sandbox.deliveries()).toHaveLength(1);
  });

  test('needs an existing transaction, and an address to send to', async () => {
    const id = await opened({ callbackUrl: undefined });
    expect(() => stage.sandbox.compose(7, {})).toThrow('There is no such transaction or delivery.');
    expect(() => stage.sandbox.compose(id, {})).toThrow(/^callback_url: is required/);
    await call(stage.sandbox, 'PUT', '/sandbox/settings', { callback_url: stage.merchant.url });
    expect((await sent(id, {})).verdict).toBe('ORD-1');
  });
});

describe('sending again all that failed', () => {
  test('sends each once, unchanged, and leaves out what was already sent again or failed earlier', async () => {
    const clock = createManualClock(START);
    const id = await opened({ clock, callbackUrl: undefined });
    stage.merchant.answer = (response) => response.writeHead(500).end();
    const to = { callback_url: stage.merchant.url };
    const failed: number[] = [];
    for (const changes of [{ forged_amount: 1 }, { forged_amount: 2 }, {}]) {
      failed.push(...stage.sandbox.compose(id, { ...to, ...changes }).map((one) => one.id));
      await stage.sandbox.idle();
      clock.move(1000);
    }
    stage.merchant.answer = (response) => response.end();
    stage.merchant.received.length = 0;
    const again = async (body: object) => {
      const answer = await call(stage.sandbox, 'POST', '/sandbox/deliveries/resend-failed', body);
      await stage.sandbox.idle();
      return listOf(answer, 'deliveries').map(({ origin }) => origin);
    };
    expect(await again({ since: '2026-01-02T00:00:01Z' })).toEqual(failed.slice(1));
    expect(await again({})).toEqual(failed.slice(0, 1));
    expect(await again({})).toEqual([]);
    expect(stage.merchant.received.map(({ data }) => data.payload.transaction_amount)).toEqual([2, 500, 1]);
    expect(new Set(stage.merchant.received.map(stage.verdict))).toEqual(new Set(['ORD-1']));
  });

  test('sends once what was resent by hand and failed each time', async () => {
    const id = await opened();
    stage.merchant.answer = (response) => response.writeHead(500).end();
    const [first] = stage.sandbox.compose(id, { forged_amount: 1 });
    await stage.sandbox.idle();
    for (let count = 0; count < 3; count += 1) {
      await call(stage.sandbox, 'POST', `/sandbox/deliveries/${first?.id}/resend`);
      await stage.sandbox.idle();
    }
    const last = stage.sandbox.deliveries().at(-1);
    const answer = await call(stage.sandbox, 'POST', '/sandbox/deliveries/resend-failed', {});
    expect(listOf(answer, 'deliveries').map(({ origin }) => origin)).toEqual([last?.id]);
  });
});

describe('values edited in place', () => {
  test('change one value of the body and its signature; every other character is sent unchanged', async () => {
    const id = await opened();
    const base =
      '{ "event":"transaction.completed",\n"payload": {"id":1.0, "a":"x","a":"y", "note":"\\u00e9 \\"q\\"", "list":[1,2,1],\t"deep":{"b": null}}, "x":-0}';
    const [first] = stage.sandbox.compose(id, { body: base });
    await stage.sandbox.idle();
    for (const [path, typed, was, becomes] of [
      ['payload.id', '2.50', '1.0', '2.50'],
      ['payload.note', 'a "b" \\ é', '"\\u00e9 \\"q\\""', '"a \\"b\\" \\\\ é"'],
      ['payload.deep.b', '{"c":1}', 'null', '{"c":1}'],
      ['x', 'not json', '-0', 'not json'],
    ] as const) {
      stage.merchant.received.length = 0;
      await submit(stage.sandbox, `compose/${first?.id}`, {
        base: base.replaceAll('\n', '\r\n'),
        [`value.${path}`]: typed,
      });
      await stage.sandbox.idle();
      expect(stage.merchant.received.map(({ body }) => body)).toEqual([base.replace(was, becomes)]);
    }
    // Values that share a name, or have none, are no fields; they are edited with the whole body.
    const names = [...(await stage.show(`/compose/${first?.id}`)).matchAll(/name="value\.([^"]+)"/g)];
    expect(names.map(([, name]) => name)).toEqual([
      'event',
      'payload.id',
      'payload.note',
      'payload.deep.b',
      'x',
    ]);
  });

  test('are applied after the other changes, and an untouched value does not undo these', async () => {
    const id = await opened();
    const { body: base } = deliveryOf(id);
    stage.merchant.received.length = 0;
    await submit(stage.sandbox, `compose/${id}`, {
      base,
      forged_amount: '9',
      'value.payload.transaction_amount': '500',
      'value.payload.merchant_reference': 'ORD-9',
    });
    await stage.sandbox.idle();
    const [received] = stage.merchant.received;
    expect(received?.data.payload).toMatchObject({ transaction_amount: 9, merchant_reference: 'ORD-9' });
    expect(received && stage.verdict(received)).toBe('ORD-9');
  });
});

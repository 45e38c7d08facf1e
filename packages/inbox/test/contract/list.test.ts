import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import type { Inbox, ListOptions } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES } from '../support/merchant.ts';
import { LATER, MINUTE_MS, money, newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('what people see, on %s', (engine) => {
  it('lists the newest first, by state, reason and reference, in pages', async () => {
    const { inbox } = await newShop(engine, LATER);
    for (const reference of ['A', 'B', 'C', 'D', 'E']) await inbox.receive(paid(reference, 500));
    await inbox.expect(money('C'));
    await inbox.expect(money('D', 7));
    await workOff(inbox, { concurrency: 1 });
    expect(await references(inbox)).toEqual(['E', 'D', 'C', 'B', 'A']);
    expect(await references(inbox, { state: 'settled' })).toEqual(['C']);
    expect(await references(inbox, { reason: 'no_expectation' })).toEqual(['E', 'B', 'A']);
    expect(await references(inbox, { state: 'unhandled', reason: 'amount_mismatch' })).toEqual([]);
    expect(await references(inbox, { state: 'quarantined', reason: 'amount_mismatch' })).toEqual(['D']);
    for (const filter of [{ reason: 'no_expectation' }, { state: 'unhandled' }] as const) {
      const page = await inbox.list({ ...filter, limit: 2 });
      expect(page.map(({ signed }) => signed.merchant_reference)).toEqual(['E', 'B']);
      expect(await references(inbox, { ...filter, after: page.at(-1)?.transitionId })).toEqual(['A']);
    }
    await inbox.receive(paid('A', 500, { internal_reference: 'INT-2' }));
    const [newest] = await inbox.list({ merchant_reference: 'A' });
    expect(newest?.signed.internal_reference).toBe('INT-2');
    const after = newest?.transitionId;
    expect(await inbox.list({ merchant_reference: 'A', after })).toMatchObject([{ state: 'unhandled' }]);
    expect(await inbox.list({ merchant_reference: 'A', state: 'pending' })).toHaveLength(1);
  });

  it('lists by the time of the last change: at or after since, and before until', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    for (const reference of ['A', 'B', 'C']) {
      await inbox.receive(paid(reference, 500));
      await workOff(inbox);
      await merchant.clock.advance(MINUTE_MS);
    }
    const [, b] = await inbox.list();
    const at = b?.changedAt ?? new Date(0);
    const afterIt = new Date(at.getTime() + 1);
    const state = 'unhandled';
    expect(await references(inbox, { state, since: at })).toEqual(['C', 'B']);
    expect(await references(inbox, { state, since: afterIt })).toEqual(['C']);
    expect(await references(inbox, { until: at })).toEqual(['A']);
    expect(await references(inbox, { since: at, until: afterIt, reason: 'no_expectation' })).toEqual(['B']);
  });

  it('lists by either reference, exactly, whatever a reference holds', async () => {
    const { merchant, inbox } = await newShop(engine);
    const json = ['ORD-1","internal_reference":"INT-1', '"merchant_reference":"ORD-1","internal_reference":'];
    const quotes = [
      '"',
      '\\',
      '\\"',
      '\\","merchant_reference":"ORD-1',
      "'; drop table credit; --",
      '$1 %s ? _ %',
    ];
    const others = ['ORD-1', 'ORD-10', 'ord-1', ' ORD-1', 'ORD-1\0', 'ORD-1\\u0000', '\u2028 é é 😀'];
    const hostile = [...others, ...quotes, ...json];
    const event = 'x","merchant_reference"';
    for (const [index, reference] of hostile.entries()) {
      const one = { merchant_reference: reference, internal_reference: `INT-${index}` };
      await inbox.receive(callback(one, { event, colonIn: 'merchant_reference' }));
      const other = { merchant_reference: `REF-${index}`, internal_reference: reference };
      await inbox.receive(callback(other, { event, colonIn: 'internal_reference' }));
    }
    for (const [index, reference] of hostile.entries()) {
      const found = await inbox.list({ merchant_reference: reference });
      expect(found.map(({ signed }) => signed.merchant_reference)).toEqual([reference]);
      const internal = await inbox.list({ internal_reference: reference });
      expect(internal.map(({ signed }) => signed.internal_reference)).toEqual([reference]);
      const both = { merchant_reference: reference, internal_reference: `INT-${index}` };
      expect(await inbox.list(both)).toEqual(found);
      expect(await inbox.list({ ...both, internal_reference: reference })).toEqual([]);
    }
    for (const unknown of ['ORD', 'RD-1', '', 'ORD-2', '\ud800']) {
      expect(await inbox.list({ merchant_reference: unknown })).toEqual([]);
    }
    expect(await merchant.open({ account: 'other' }).list({ merchant_reference: 'ORD-1' })).toEqual([]);
  });

  it('refuses an option that is none, and names it', async () => {
    const { inbox } = await newShop(engine);
    for (const wrong of [
      ...[7, null, ['ORD-1']].flatMap((value) => [
        { merchant_reference: value },
        { internal_reference: value },
      ]),
      ...[{ state: "x' or 1=1" }, { reason: 7 }, { limit: 0 }, { limit: 1001 }, { limit: 1.5 }],
      ...[{ since: '2026-01-01' }, { until: new Date(Number.NaN) }],
    ]) {
      const call = Reflect.apply(inbox.list, undefined, [wrong]);
      await expect(call).rejects.toMatchObject({ option: Object.keys(wrong)[0] });
    }
    await expect(inbox.show('xyz')).rejects.toThrow(ConfigurationError);
    expect(await inbox.show('0'.repeat(64))).toBeUndefined();
  });

  it('shows a transition with its bodies and its expectation', async () => {
    const { inbox } = await newShop(engine);
    await inbox.expect({ ...money('A'), compare: 'request' });
    const verified = paid('A', 500);
    await inbox.receive(verified);
    await inbox.receive(verified);
    await workOff(inbox);
    const details = await inbox.show(verified.transitionId);
    expect(details).toMatchObject({
      transitionId: verified.transitionId,
      state: 'settled',
      signed: verified.signed,
      deliveries: 2,
      refusedBodies: 0,
      nextAt: undefined,
      actions: [],
      expectation: {
        ...{ currency: 'UGX', amount: '500', compare: 'request' },
        settledBy: verified.transitionId,
      },
    });
    const [body] = details?.bodies ?? [];
    expect(body).toMatchObject({ keyId: 'default', refusal: undefined, isSettled: true, deliveries: 2 });
    expect(body?.lastAt.getTime()).toBeGreaterThanOrEqual(body?.firstAt.getTime() ?? Number.NaN);
    expect(JSON.parse(body?.text ?? '')).toEqual(verified.raw);
  });
});

async function references(inbox: Inbox<AnyTransaction>, options?: ListOptions): Promise<string[]> {
  return (await inbox.list(options)).map(({ signed }) => signed.merchant_reference);
}

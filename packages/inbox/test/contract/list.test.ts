import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import type { Inbox } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('what people see, on %s', (engine) => {
  it('lists the newest first, by state, in pages', async () => {
    const { merchant, inbox } = await newShop(engine);
    for (const reference of ['A', 'B', 'C', 'D', 'E']) await inbox.receive(paid(reference, 500));
    await inbox.expect({ merchant_reference: 'C', currency: 'UGX', amount: 500 });
    await workOff(inbox);
    expect(await references(inbox)).toEqual(['E', 'D', 'C', 'B', 'A']);
    expect(await references(inbox, { state: 'settled' })).toEqual(['C']);
    const page = await inbox.list({ state: 'unhandled', limit: 2 });
    expect(page.map(({ signed }) => signed.merchant_reference)).toEqual(['E', 'D']);
    const after = page.at(-1)?.transitionId;
    expect(await references(inbox, { state: 'unhandled', after })).toEqual(['B', 'A']);
    await expect(inbox.list({ limit: 0 })).rejects.toThrow(ConfigurationError);
    await expect(Reflect.apply(inbox.list, undefined, [{ state: "x' or 1=1" }])).rejects.toThrow(
      ConfigurationError,
    );
    await expect(inbox.show('xyz')).rejects.toThrow(ConfigurationError);
    expect(await inbox.show('0'.repeat(64))).toBeUndefined();
  });

  it('lists by either reference, exactly, whatever a reference holds', async () => {
    const { merchant, inbox } = await newShop(engine);
    const hostile = [
      'ORD-1',
      'ORD-10',
      'ord-1',
      ' ORD-1',
      '"',
      '\\',
      '\\"',
      'ORD-1","internal_reference":"INT-1',
      '"merchant_reference":"ORD-1","internal_reference":',
      '\\","merchant_reference":"ORD-1',
      'ORD-1\0',
      'ORD-1\\u0000',
      "'; drop table credit; --",
      '$1 %s ? _ %',
      '\u2028 é é 😀',
    ];
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
    for (const option of ['merchant_reference', 'internal_reference']) {
      for (const wrong of [7, null, ['ORD-1']]) {
        const call = Reflect.apply(inbox.list, undefined, [{ [option]: wrong }]);
        await expect(call).rejects.toMatchObject({ option });
      }
    }
  });

  it('lists by reference, by state, in pages', async () => {
    const { merchant, inbox } = await newShop(engine);
    for (let count = 1; count <= 3; count += 1) {
      await inbox.receive(paid('A', 500, { internal_reference: `INT-${count}` }));
      await inbox.receive(paid('B', 500, { internal_reference: `INT-${count}` }));
    }
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await workOff(inbox);
    const found = await inbox.list({ merchant_reference: 'A' });
    expect(found.map(({ signed }) => signed.internal_reference)).toEqual(['INT-3', 'INT-2', 'INT-1']);
    const [newest, ...older] = found;
    const after = newest?.transitionId;
    expect(await inbox.list({ merchant_reference: 'A', after })).toEqual(older);
    expect(await inbox.list({ merchant_reference: 'A', after, limit: 1 })).toEqual(older.slice(0, 1));
    expect(await inbox.list({ merchant_reference: 'A', state: 'settled' })).toHaveLength(1);
    expect(await inbox.list({ internal_reference: 'INT-2' })).toHaveLength(2);
  });

  it('shows a transition with its bodies and its expectation', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: '500', compare: 'request' });
    const verified = paid('A', 500);
    await inbox.receive(verified);
    await workOff(inbox);
    const details = await inbox.show(verified.transitionId);
    expect(details).toMatchObject({
      transitionId: verified.transitionId,
      state: 'settled',
      signed: verified.signed,
      deliveries: 1,
      firstAt: new Date(merchant.clock.now()),
      nextAt: undefined,
      expectation: { currency: 'UGX', amount: '500', compare: 'request', settledBy: verified.transitionId },
    });
    const [body] = details?.bodies ?? [];
    expect(body).toMatchObject({ keyId: 'default', refusal: undefined, isSettled: true, deliveries: 1 });
    expect(JSON.parse(body?.text ?? '')).toEqual(verified.raw);
  });
});

async function references(
  inbox: Inbox<AnyTransaction>,
  options?: Parameters<Inbox<AnyTransaction>['list']>[0],
): Promise<string[]> {
  return (await inbox.list(options)).map(({ signed }) => signed.merchant_reference);
}

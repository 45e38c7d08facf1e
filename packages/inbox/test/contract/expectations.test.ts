import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, MINUTE_MS, money, NOTE, newShop, ORDER } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const REPLACE = { replace: true };
const { transitionId } = paid('ORD-1', 500);

describe.each(ENGINES)('expectations on %s', (engine) => {
  it('may be repeated, and are changed only with replace, which keeps the earlier ones', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    const earlier = { ...ORDER, amount: '700' };
    await inbox.expect(earlier);
    await inbox.expect({ ...earlier, amount: '700.00' });
    for (const other of [
      ORDER,
      { ...earlier, currency: 'USD' },
      { ...earlier, compare: 'request' as const },
    ]) {
      await expect(inbox.expect(other)).rejects.toThrow(InvalidStateError);
      await expect(inbox.expect(other)).rejects.toThrow('replace: true');
    }
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({
      reason: 'amount_mismatch',
      expectation: { amount: '700', currency: 'UGX', compare: 'both', replaced: [] },
    });
    await inbox.expect(ORDER, REPLACE);
    await inbox.expect({ ...ORDER, amount: 500n });
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'settled',
      expectation: { amount: '500', replaced: [{ currency: 'UGX', amount: '700', compare: 'both' }] },
    });
    await inbox.expect({ ...ORDER, amount: '500.00' });
    for (const other of [{ amount: '501' }, { currency: 'USD' }, { compare: 'request' as const }]) {
      await expect(inbox.expect({ ...ORDER, ...other }, REPLACE)).rejects.toThrow(InvalidStateError);
    }
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('threat A31: a body that equals a replaced amount keeps the payer from settling the next one himself', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    const bodies = { 'ORD-1': [500, 5_000_000], 'ORD-2': [5_000_000, 500], CONTROL: [400, 5_000_000] };
    for (const [reference, amounts] of Object.entries(bodies)) {
      await inbox.expect(money(reference, 500));
      await inbox.expect(money(reference, 5_000_000), REPLACE);
      for (const amount of amounts) await inbox.receive(paid(reference, amount));
    }
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'CONTROL', amount: '5000000' }]);
    const conflicts = await inbox.list({ state: 'conflict', reason: 'contradicting_bodies' });
    expect(conflicts.map(({ signed }) => signed.merchant_reference).sort()).toEqual(['ORD-1', 'ORD-2']);
    await inbox.resolve(transitionId, NOTE);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('an amount that is taken back, or only compared otherwise, contradicts nothing', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    for (const amount of ['500', '700', '500']) await inbox.expect(money('BACK', amount), REPLACE);
    await inbox.expect(money('COMPARE'));
    await inbox.expect({ ...money('COMPARE'), compare: 'request' }, REPLACE);
    for (const reference of ['BACK', 'COMPARE']) await inbox.receive(paid(reference, 500));
    await workOff(inbox);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['BACK', 'COMPARE']);
    // The control: one that was not taken back does.
    await inbox.expect(money('ORD-3', '700'));
    await inbox.expect(money('ORD-3', '500'), REPLACE);
    for (const amount of [500, 700]) await inbox.receive(paid('ORD-3', amount));
    await workOff(inbox);
    expect(await inbox.list({ merchant_reference: 'ORD-3' })).toMatchObject([
      { reason: 'contradicting_bodies' },
    ]);
  });

  it('that nothing could equal are refused, with the name of the field and without its value', async () => {
    const { inbox } = await newShop(engine);
    const wrong = [
      ['merchant_reference', { merchant_reference: '' }],
      ['merchant_reference', { merchant_reference: 'secret\0' }],
      ['merchant_reference', { merchant_reference: 'secret\ud800' }],
      ['transaction_type', { transaction_type: '' }],
      ['currency', { currency: 'secret currency' }],
      ['currency', { currency: 'S'.repeat(33) }],
      ['deadline', { deadline: new Date(Number.NaN) }],
      ...['secret', 0.1 + 0.2, '10e9999', `${'9'.repeat(990)}e30`].map(
        (amount) => ['amount', { amount }] as const,
      ),
      ...['0', '-0', 0n, '0.00', '-1', -0.01, '-5e-9'].map((amount) => ['amount', { amount }] as const),
    ] as const;
    for (const [option, fields] of wrong) {
      const error = await inbox.expect({ ...ORDER, ...fields }).catch((thrown: unknown) => thrown);
      expect(error, JSON.stringify(fields, String)).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ option });
      expect(String(error)).not.toContain('secret');
    }
    await inbox.expect({ ...ORDER, amount: '0.01' });
  });

  it("inside the merchant's transaction are kept and lost with it", async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    const early = merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
    await expect(early).rejects.toMatchObject({ option: 'tx', message: expect.stringContaining('ready()') });
    await inbox.receive(paid('ORD-1', 500));
    const order = (isLost: boolean): Promise<void> =>
      merchant.transaction(async (tx) => {
        await merchant.credit(tx, 'order', '500');
        await inbox.expect(ORDER, { tx });
        if (isLost) throw new Error('the order failed');
      });
    await expect(order(true)).rejects.toThrow('the order failed');
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await order(false);
    await workOff(inbox);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['ORD-1', 'order']);
  });

  it('of the next payment may be kept by a handler in its own transaction', async () => {
    const { merchant, inbox } = await newShop(engine, LATER, async (transition) => {
      await creditIn(merchant)(transition);
      if (transition.signed.merchant_reference === 'ORD-2') return;
      await inbox.expect(money('ORD-2', 7), { tx: transition.tx });
      if (transition.attempt === 1) throw new Error('once more');
    });
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-2', 7));
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect((await inbox.stats()).states).toMatchObject({ unhandled: 1, retrying: 1 });
    await merchant.clock.advance(MINUTE_MS);
    const stop = startWork(inbox);
    // Looked at while the expectation was not committed, the second one comes back a moment later.
    await until(async () => (await inbox.stats()).states.settled === 2);
    await stop();
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['ORD-1', 'ORD-2']);
  });

  it('are not changed by the handler that settles them: it fails as any other, and keeps nobody waiting', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ retry: { ...LATER.retry, attempts: 2 } });
    inbox.handle(async (transition) => {
      await creditIn(merchant)(transition);
      const { tx, signed } = transition;
      if (signed.merchant_reference === 'ORD-1')
        await inbox.expect({ ...ORDER, amount: '600' }, { tx, ...REPLACE });
    });
    for (const reference of ['ORD-1', 'ORD-2']) {
      await inbox.expect(money(reference));
      await inbox.receive(paid(reference, 500));
    }
    await workOff(inbox);
    const lastError = expect.stringContaining('must not change the expectation');
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'retrying', attempts: 1, lastError });
    await merchant.clock.advance(MINUTE_MS);
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'dead',
      attempts: 2,
      reason: 'attempts_used_up',
    });
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-2', amount: '500' }]);
  });
});

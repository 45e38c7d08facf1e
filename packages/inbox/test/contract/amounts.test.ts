import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { callback, paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';
import { signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('amounts on %s', (engine) => {
  it('settles when the expectation came before', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
    expect((await inbox.stats()).states).toMatchObject({ settled: 1, pending: 0 });
  });

  it('settles when the expectation comes after; nothing is credited until then', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    expect(await merchant.credits()).toEqual([]);
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('threat A5: a forged body that comes first neither credits nor blocks', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await inbox.receive(paid('ORD-1', 5_000_000));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
    expect(await merchant.credits()).toEqual([]);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
    await inbox.receive(paid('ORD-1', 600));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    expect(await inbox.list()).toMatchObject([{ state: 'settled', bodyCount: 3 }]);
    const details = await inbox.show((await inbox.list())[0]?.transitionId ?? '');
    expect(details?.bodies.filter(({ isSettled }) => isSettled)).toMatchObject([
      { request: { amount: '500' } },
    ]);
  });

  it('a completed payout under the reference of an order does not pay the order', async () => {
    const { merchant, inbox } = await newShop(engine);
    const payout = paid('ORD-1', 500, { internal_reference: 'INT-OUT', transaction_type: 'PAYOUT' });
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await inbox.receive(payout);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('threat A2: without an expectation, two different bodies are a conflict for a person', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 5_000_000));
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'conflict', reason: 'different_bodies' }]);
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: 500 });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('a second body turns "no expectation yet" into a conflict', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    await inbox.receive(paid('ORD-1', 501));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'conflict', reason: 'different_bodies' }]);
  });

  it.each([
    ['1999.90', '1999.9', '1999.9'],
    ['0.3', '0.30', '0.3'],
    ['1e3', '1000', '1000'],
    ['9007199254740993', '9007199254740993', '9007199254740993'],
    ['0.1000000000000000055', '0.1000000000000000055', '0.1000000000000000055'],
  ])('compares exactly: %s expected, %s came', async (amount, came, canonical) => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount });
    await inbox.receive(withAmounts(came));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1001', amount: canonical }]);
  });

  it.each([
    ['9007199254740992', '9007199254740993'],
    ['0.1', '0.1000000000000000055'],
    ['0.3', '0.30000000000000004'],
    ['500', '-500'],
  ])('compares exactly: %s expected, %s came, which a float could not tell apart', async (amount, came) => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount });
    await inbox.receive(withAmounts(came));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
    expect(await merchant.credits()).toEqual([]);
  });

  it.each([
    ['both', { request_amount: 500 }, 'quarantined'],
    ['request', { request_amount: 500, transaction_amount: 130 }, 'settled'],
    ['transaction', { request_amount: 130, transaction_amount: 500 }, 'settled'],
    ['request', { request_amount: 130, transaction_amount: 500 }, 'quarantined'],
    ['both', { request_currency: 'USD' }, 'quarantined'],
    ['both', { transaction_currency: 'ugx' }, 'quarantined'],
    ['both', { transaction_currency: undefined }, 'quarantined'],
    ['both', { request_amount: '500' }, 'quarantined'],
  ] as const)('compare %s with %o is %s', async (compare, payload, state) => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: 500, compare });
    const amounts = compare === 'both' ? { request_amount: 500, transaction_amount: 500 } : {};
    const changed = 'request_amount' in payload && compare === 'both' ? { transaction_amount: 499 } : {};
    await inbox.receive(callback({ merchant_reference: 'ORD-1', ...amounts, ...changed, ...payload }));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state }]);
  });

  it('two transactions for one expectation: one is applied, the other is a conflict', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: 500 });
    const transactions = ['INT-1', 'INT-2', 'INT-3'];
    for (const internal_reference of transactions)
      await inbox.receive(paid('ORD-1', 500, { internal_reference }));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    expect((await inbox.stats()).states).toMatchObject({ settled: 1, conflict: 2 });
    expect((await inbox.list({ state: 'conflict' }))[0]).toMatchObject({ reason: 'already_settled' });
  });

  it('an expectation may be repeated and changed until it is settled, and then only be repeated', async () => {
    const { merchant, inbox } = await newShop(engine);
    const expectation = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };
    await inbox.expect({ ...expectation, amount: '700' });
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
    await inbox.expect(expectation);
    await inbox.expect({ ...expectation, amount: 500n });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
    await inbox.expect({ ...expectation, amount: '500.00' });
    for (const other of [{ amount: '501' }, { currency: 'USD' }, { compare: 'request' as const }]) {
      await expect(inbox.expect({ ...expectation, ...other })).rejects.toThrow(InvalidStateError);
    }
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('refuses an expectation that nothing could equal, and names the field without its value', async () => {
    const { inbox } = await newShop(engine);
    const right = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };
    const wrong = [
      ['merchant_reference', { ...right, merchant_reference: '' }],
      ['merchant_reference', { ...right, merchant_reference: 'secret\0' }],
      ['merchant_reference', { ...right, merchant_reference: 'secret\ud800' }],
      ['currency', { ...right, currency: 'secret currency' }],
      ['currency', { ...right, currency: 'S'.repeat(33) }],
      ['amount', { ...right, amount: 'secret' }],
      ['amount', { ...right, amount: 0.1 + 0.2 }],
      ['amount', { ...right, amount: '10e9999' }],
      ['amount', { ...right, amount: `${'9'.repeat(990)}e30` }],
      ['deadline', { ...right, deadline: new Date(Number.NaN) }],
    ] as const;
    for (const [option, expectation] of wrong) {
      const error = await inbox.expect(expectation).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ option });
      expect(String(error)).not.toContain('secret');
    }
  });

  it("expect() inside the merchant's transaction is kept and lost with it", async () => {
    const { merchant, inbox } = await newShop(engine);
    const expectation = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };
    await inbox.ready();
    const lost = merchant.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '1');
      await inbox.expect(expectation, { tx });
      throw new Error('the order failed');
    });
    await expect(lost).rejects.toThrow('the order failed');
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await merchant.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '2');
      await inbox.expect(expectation, { tx });
    });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([
      { reference: 'ORD-1', amount: '500' },
      { reference: 'order', amount: '2' },
    ]);
  });

  it('a handler may expect the next payment in its own transaction', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (signed.merchant_reference === 'ORD-2') return;
      await inbox.expect({ merchant_reference: 'ORD-2', currency: 'UGX', amount: 7 }, { tx });
      if (attempt === 1) throw new Error('once more');
    });
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await inbox.receive(paid('ORD-2', 7));
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect((await inbox.stats()).states).toMatchObject({ unhandled: 1, retrying: 1 });
    await merchant.clock.advance(10_000);
    await workOff(inbox);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['ORD-1', 'ORD-2']);
  });

  it('a forged body never decides what is credited: settled is the expectation itself', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const seen: unknown[] = [];
    inbox.handle((transition) => {
      seen.push({ ...transition, tx: undefined });
    });
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500.00' });
    await inbox.receive(callback({ total_credit: 9_999_999 }));
    await workOff(inbox);
    const { transitionId, signed } = callback();
    expect(seen).toEqual([
      { transitionId, signed, attempt: 1, settled: { currency: 'UGX', amount: '500' }, tx: undefined },
    ]);
  });
});

describe('amounts on postgres only', () => {
  it('a callback that is worked on while expect() is not committed yet finds the expectation afterwards', async () => {
    const { merchant, inbox } = await newShop('postgres');
    await inbox.ready();
    const stop = startWork(inbox);
    await merchant.transaction(async (tx) => {
      await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' }, { tx });
      await inbox.receive(paid('ORD-1', 500));
      await inbox.receive(paid('ORD-9', 1));
      // The other one is parked; this one must not be, or nobody would wake it.
      await until(async () => (await inbox.stats()).states.unhandled === 1);
      expect((await inbox.stats()).states.pending).toBe(1);
    });
    await merchant.clock.advance(1000);
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('an expectation that changes while the handler runs undoes what the handler did', async () => {
    const merchant = await newMerchant('postgres');
    const inbox = merchant.open();
    const [isRunning, mayEnd] = [signal(), signal()];
    inbox.handle(async ({ tx, signed, settled }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      isRunning.give();
      await mayEnd.promise;
    });
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await inbox.receive(paid('ORD-1', 500));
    const worked = workOff(inbox);
    await isRunning.promise;
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '700' });
    mayEnd.give();
    await worked;
    expect(await merchant.credits()).toEqual([]);
    // By another lane at once, or by the next attempt.
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
  });
});

/** The sample with both amounts written as given, digit by digit. */
function withAmounts(literal: string): ReturnType<typeof callback> {
  return callback(
    {},
    { rewrite: (text) => text.replace(/("(?:request|transaction)_amount":)500/g, `$1${literal}`) },
  );
}

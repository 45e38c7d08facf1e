import { describe, expect, it } from 'vitest';
import type { TransitionSummary } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, MINUTE_MS, money, newDueShop, newShop, ORDER } from '../support/shop.ts';
import { signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('amounts on %s', (engine) => {
  it('settles, whether the expectation comes before or after; nothing is credited until then', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.expect(money('BEFORE'));
    for (const reference of ['BEFORE', 'AFTER']) await inbox.receive(paid(reference, 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'BEFORE', amount: '500' }]);
    expect(await inbox.list({ state: 'unhandled' })).toMatchObject([{ reason: 'no_expectation' }]);
    await inbox.expect(money('AFTER'));
    await workOff(inbox);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['AFTER', 'BEFORE']);
    expect((await inbox.stats()).states).toMatchObject({ settled: 2, pending: 0 });
  });

  it('threat A5: a forged body that comes first neither credits nor blocks', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 5_000_000));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
    expect(await merchant.credits()).toEqual([]);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    await inbox.receive(paid('ORD-1', 600));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
    const details = await inbox.show(paid('ORD-1', 500).transitionId);
    expect(details).toMatchObject({ state: 'settled', bodyCount: 3 });
    expect(details?.bodies.filter(({ isSettled }) => isSettled)).toMatchObject([
      { request: { amount: '500' } },
    ]);
  });

  it('says that a transition was contradicted when another body claims another amount, and only then', async () => {
    const { merchant, inbox } = await newShop(engine);
    for (const reference of ['ORD-1', 'ORD-2']) await inbox.expect(money(reference));
    await inbox.receive(paid('ORD-1', 5_000_000));
    for (const reference of ['ORD-1', 'ORD-2']) await inbox.receive(paid(reference, 500));
    await inbox.receive(paid('ORD-2', 500, { transaction_charge: 99 }));
    await workOff(inbox);
    const contradicted = merchant.events.flatMap((event) =>
      event.name === 'transition.settled' ? [[event.transitionId, event.contradicted]] : [],
    );
    expect(Object.fromEntries(contradicted)).toEqual({
      [paid('ORD-1', 500).transitionId]: true,
      [paid('ORD-2', 500).transitionId]: false,
    });
  });

  it('a completed payout under the reference of an order does not pay the order', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500, { internal_reference: 'INT-OUT', transaction_type: 'PAYOUT' }));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('threat A2: without an expectation, two different bodies are a conflict for a person', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await inbox.receive(paid('ORD-1', 501));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'conflict', reason: 'different_bodies' }]);
    await inbox.expect(ORDER);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('compares exactly, digit by digit, where a float could not tell the amounts apart', async () => {
    const { merchant, inbox } = await newShop(engine);
    const equal = [
      ['1999.90', '1999.9', '1999.9'],
      ['0.3', '0.30', '0.3'],
      ['1e3', '1000', '1000'],
      ['9007199254740993', '9007199254740993', '9007199254740993'],
      ['0.1000000000000000055', '0.1000000000000000055', '0.1000000000000000055'],
    ] as const;
    const unequal = [
      ['9007199254740992', '9007199254740993'],
      ['0.1', '0.1000000000000000055'],
      ['0.3', '0.30000000000000004'],
      ['500', '-500'],
    ] as const;
    for (const [index, [expected, came]] of [...equal, ...unequal].entries()) {
      await inbox.expect(money(`ORD-${index}`, expected));
      await inbox.receive(withAmounts(`ORD-${index}`, came));
    }
    await workOff(inbox);
    const credited = equal.map(([, , amount], index) => ({ reference: `ORD-${index}`, amount }));
    expect(await merchant.credits()).toEqual(credited);
    expect((await inbox.stats()).reasons).toEqual({ amount_mismatch: unequal.length });
  });

  it('compares the currency and the side that compare names', async () => {
    const { inbox } = await newShop(engine);
    const cases = [
      ['both', {}, 'settled'],
      ['both', { transaction_amount: 499 }, 'quarantined'],
      ['request', { transaction_amount: 130 }, 'settled'],
      ['transaction', { request_amount: 130 }, 'settled'],
      ['request', { request_amount: 130 }, 'quarantined'],
      ['both', { request_currency: 'USD' }, 'quarantined'],
      ['both', { transaction_currency: 'ugx' }, 'quarantined'],
      ['both', { transaction_currency: undefined }, 'quarantined'],
      ['both', { request_amount: '500' }, 'quarantined'],
    ] as const;
    for (const [index, [compare, claims]] of cases.entries()) {
      await inbox.expect({ ...money(`ORD-${index}`), compare });
      await inbox.receive(paid(`ORD-${index}`, 500, claims));
    }
    await workOff(inbox);
    const states = (await inbox.list()).toSorted(byReference).map(({ state }) => state);
    expect(states).toEqual(cases.map(([, , state]) => state));
  });

  it('two transactions for one expectation: one is applied, the other is a conflict', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect(ORDER);
    for (const internal_reference of ['INT-1', 'INT-2', 'INT-3']) {
      await inbox.receive(paid('ORD-1', 500, { internal_reference }));
    }
    await workOff(inbox);
    // One that ran at the same time was undone, and looks again.
    await merchant.clock.advance(MINUTE_MS);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    expect(await inbox.stats()).toMatchObject({
      states: { settled: 1, conflict: 2 },
      reasons: { already_settled: 2 },
    });
  });

  it('gives the handler the expectation as settled, and the fields of the body that equals it as claimed', async () => {
    const seen: unknown[] = [];
    const { inbox } = await newShop(engine, {}, ({ tx: _, ...rest }) => seen.push(rest));
    await inbox.expect(money('ORD-1001', '500.00'));
    await inbox.receive(callback({ request_amount: 9_999_999, transaction_charge: 0 }));
    await inbox.receive(callback({ total_credit: 9_999_999, transaction_charge: 15.25, nested: { a: 1 } }));
    await workOff(inbox);
    const { transitionId, signed, unsigned } = callback({
      total_credit: 9_999_999,
      transaction_charge: 15.25,
    });
    expect(seen).toEqual([
      {
        transitionId,
        signed,
        attempt: 1,
        settled: { currency: 'UGX', amount: '500' },
        claimed: { ...unsigned },
      },
    ]);
    expect(unsigned).toMatchObject({ transaction_charge: 15.25, provider_code: 'example_mobile_money' });
  });
});

describe('amounts on postgres, where others write while a handler runs', () => {
  it('an expectation that is replaced meanwhile undoes what the handler did', async () => {
    const { merchant, inbox } = await newDueShop('postgres', LATER);
    const [isRunning, mayEnd] = [signal(), signal()];
    inbox.handle(async (transition) => {
      await creditIn(merchant)(transition);
      isRunning.give();
      await mayEnd.promise;
    });
    const worked = workOff(inbox);
    await isRunning.promise;
    await inbox.expect({ ...ORDER, amount: '700' }, { replace: true });
    mayEnd.give();
    await worked;
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([
      { state: 'retrying', lastError: expect.stringContaining('changed while its handler ran') },
    ]);
    await merchant.clock.advance(MINUTE_MS);
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'conflict', reason: 'contradicting_bodies' }]);
    expect(await merchant.credits()).toEqual([]);
  });
});

function byReference(one: TransitionSummary, other: TransitionSummary): number {
  return one.signed.merchant_reference < other.signed.merchant_reference ? -1 : 1;
}

/** Both amounts written as given, digit by digit. */
function withAmounts(reference: string, literal: string): ReturnType<typeof callback> {
  const rewrite = (text: string): string =>
    text.replace(/("(?:request|transaction)_amount":)500/g, `$1${literal}`);
  return paid(reference, 500, {}, { rewrite });
}

// SQLite has one writer: there no two handlers run at the same time.
describe('one expectation and two transactions on postgres', () => {
  it('are applied once although both handlers run at the same moment', async () => {
    const merchant = await newMerchant('postgres');
    const inbox = merchant.open();
    let running = 0;
    inbox.handle(async (transition) => {
      await creditIn(merchant)(transition);
      running += 1;
      // The second run of the one that comes second finds the expectation settled, and is not here.
      await until(() => running >= 2);
    });
    await inbox.expect(money('ORD-1', 500));
    for (const internal_reference of ['INT-1', 'INT-2']) {
      await inbox.receive(paid('ORD-1', 500, { internal_reference }));
    }
    const stop = startWork(inbox, { concurrency: 2 });
    await until(async () => (await inbox.stats()).reasons.already_settled === 1);
    await stop();
    expect(running).toBe(2);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });
});

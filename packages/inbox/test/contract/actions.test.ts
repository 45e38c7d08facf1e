import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { creditIn, DAY_MS, LATER, money, NOTE, newShop, order } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const { transitionId } = paid('A', 500);

describe.each(ENGINES)('actions of an operator on %s', (engine) => {
  test('retry() gives a dead transition all its attempts again, and records who asked and why', async () => {
    let isBroken = true;
    const retry = { ...LATER.retry, attempts: 2 };
    const { merchant, inbox, show, workLater } = await newShop(engine, { retry }, async (transition) => {
      if (isBroken) throw new Error('broken');
      await creditIn(merchant)(transition);
    });
    await order(inbox, 'A');
    const exhaust = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) await workLater(DAY_MS);
    };
    await exhaust();
    expect(await show('A')).toMatchObject({ state: 'dead', attempts: 2, actions: [] });
    expect(await inbox.retry(transitionId, NOTE)).toBe(1);
    await exhaust();
    expect(await show('A')).toMatchObject({ state: 'dead', attempts: 2 });
    isBroken = false;
    await inbox.retry(transitionId, { by: 'eli', note: 'the ledger is back' });
    await exhaust();
    expect(await show('A')).toMatchObject({
      state: 'settled',
      lastError: undefined,
      actions: [
        { action: 'retry', ...NOTE, at: expect.any(Date) },
        { action: 'retry', by: 'eli', note: 'the ledger is back' },
      ],
    });
    await expect(inbox.retry(transitionId, NOTE)).rejects.toThrow(InvalidStateError);
    expect(await merchant.credits()).toHaveLength(1);
  });

  test('retry() and resolve() move all transitions of a state and reason, up to the limit', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    for (const reference of ['D', 'E']) await inbox.expect(money(reference, 7));
    for (const reference of ['A', 'B', 'C', 'D', 'E']) await pay(reference);
    const unhandled = { state: 'unhandled', reason: 'no_expectation' } as const;
    expect(await inbox.retry({ ...unhandled, reason: 'no_handler' }, NOTE)).toBe(0);
    expect(await inbox.retry({ ...unhandled, limit: 2 }, NOTE)).toBe(2);
    expect((await inbox.stats()).states).toMatchObject({ pending: 2, unhandled: 1 });
    await workOff(inbox);
    expect(await inbox.resolve(unhandled, NOTE)).toBe(3);
    for (const state of ['unhandled', 'resolved'] as const)
      expect(await inbox.resolve({ state }, NOTE)).toBe(0);
    expect(await inbox.stats()).toMatchObject({ reasons: { closed_by_person: 3, amount_mismatch: 2 } });
    expect((await show('A'))?.actions.at(-1)).toMatchObject({ action: 'resolve', ...NOTE });
    expect(merchant.events.filter(({ name }) => name === 'transition.moved')).toHaveLength(5);
    expect(await merchant.credits()).toEqual([]);
  });

  test('an action without a note, without a state, or on an unknown transition is refused', async () => {
    const { inbox } = await newShop(engine);
    await inbox.receive(paid('A', 500));
    const notes = [undefined, {}, { by: 'dana' }, { by: ' ', note: 'x' }, { by: 'dana', note: '\0' }];
    // A misspelled body would close the transition, and apply nothing.
    const misspelled = { ...NOTE, digest: '0'.repeat(64) };
    const others = [misspelled, { ...NOTE, by: 'x'.repeat(201) }, { ...NOTE, note: 'x'.repeat(1001) }];
    const selections = [{}, { reason: 'no_handler' }, { state: 'x' }, { state: 'dead', limit: 1001 }];
    const expectRefusal = async (call: (...values: never[]) => unknown, ...values: unknown[]) => {
      const refused = (async () => Reflect.apply(call, undefined, values))();
      await expect(refused, JSON.stringify(values)).rejects.toThrow(ConfigurationError);
    };
    for (const call of [inbox.retry, inbox.resolve, inbox.reopen])
      for (const note of [...notes, ...others]) await expectRefusal(call, transitionId, note);
    for (const which of [...selections, 'x', undefined]) await expectRefusal(inbox.resolve, which, NOTE);
    await expectRefusal(inbox.retry, '0'.repeat(64), NOTE);
    expect(await inbox.list()).toMatchObject([{ state: 'pending' }]);
  });

  test('a resolved or settled transition is applied once each time that a person reopens it', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    await pay('A');
    await inbox.resolve(transitionId, NOTE);
    await inbox.expect(money('A'));
    await pay('A', 501);
    expect(await show('A')).toMatchObject({ state: 'resolved', reason: 'closed_by_person' });
    expect(await merchant.credits()).toEqual([]);
    for (const times of [1, 2]) {
      await inbox.reopen(transitionId, NOTE);
      await expect(inbox.reopen(transitionId, NOTE)).rejects.toThrow(InvalidStateError);
      await workOff(inbox);
      await pay('A');
      expect(await merchant.credits()).toHaveLength(times);
    }
    await expect(inbox.resolve(transitionId, NOTE)).rejects.toThrow(InvalidStateError);
    const actions = ['resolve', 'reopen', 'reopen'].map((action) => ({ action }));
    expect(await show('A')).toMatchObject({ state: 'settled', deliveries: 4, actions });
  });

  test('resolve() with a body makes the amount of the body the expectation, and applies it once', async () => {
    const { merchant, inbox, show } = await newShop(engine, LATER);
    for (const [amount, other] of [
      [5_000_000, 5_000_000],
      [500, 500],
      [500, 499],
    ] as const) {
      await inbox.receive(paid('A', amount, { transaction_amount: other }));
    }
    await workOff(inbox);
    const { bodies = [], state } = (await show('A')) ?? {};
    expect(state).toBe('conflict');
    const digestOf = (...amounts: string[]): string | undefined =>
      bodies.find(({ request, transaction }) => `${[request.amount, transaction.amount]}` === `${amounts}`)
        ?.digest;
    for (const body of ['0'.repeat(64), digestOf('500', '499')]) {
      await expect(inbox.resolve(transitionId, { ...NOTE, body })).rejects.toThrow(ConfigurationError);
    }
    const accepted = { ...NOTE, body: digestOf('500', '500') };
    const all = Promise.resolve().then(() => inbox.resolve({ state: 'conflict' }, accepted));
    await expect(all).rejects.toMatchObject({ option: 'body' });
    await inbox.resolve(transitionId, accepted);
    // It is an expectation now, and no other body takes its place.
    await expect(inbox.resolve(transitionId, accepted)).rejects.toThrow(InvalidStateError);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500']);
    expect(await show('A')).toMatchObject({
      state: 'settled',
      actions: [{ action: 'resolve', ...NOTE }],
      expectation: { amount: '500', settledBy: transitionId },
    });
  });

  test.each([
    ['FAILED', 'quarantined'],
    ['PENDING', 'superseded'],
  ])('reopen lets a late %s through, and neither retry nor another body does', async (status, state) => {
    const { inbox, pay } = await newShop(engine, { ...LATER, interimStatuses: ['PENDING'] });
    const applied: string[] = [];
    inbox.handle(({ signed }) => applied.push(signed.transaction_status), { status: '*' });
    await inbox.expect(money('A'));
    await pay('A');
    await pay('A', 500, { transaction_status: status });
    const late = paid('A', 501, { transaction_status: status });
    if (state === 'quarantined') await inbox.retry(late.transitionId, NOTE);
    else await expect(inbox.retry(late.transitionId, NOTE)).rejects.toThrow(InvalidStateError);
    await workOff(inbox);
    await inbox.receive(late);
    expect(await inbox.show(late.transitionId)).toMatchObject({ state, nextAt: undefined });
    expect(applied).toEqual([]);
    await inbox.reopen(late.transitionId, NOTE);
    await workOff(inbox);
    expect(applied).toEqual([status]);
  });

  test('reopen() applies to one evaluation only', async () => {
    const { merchant, inbox, pay } = await newShop(engine, LATER);
    await inbox.expect(money('A'));
    const again = paid('B', 500, { internal_reference: 'INT-A' });
    const judged = async (): Promise<unknown> => {
      await workOff(inbox);
      return (await inbox.show(again.transitionId))?.reason;
    };
    await pay('A');
    await inbox.receive(again);
    expect(await judged()).toBe('transition_not_allowed');
    await inbox.reopen(again.transitionId, NOTE);
    expect(await judged()).toBe('no_expectation');
    await inbox.expect(money('B'));
    expect(await judged()).toBe('transition_not_allowed');
    expect(await merchant.credits()).toEqual(['A 500']);
  });

  test('a body is accepted in place of the expectation on request, by either of its amounts', async () => {
    const { merchant, inbox, show } = await newShop(engine, LATER);
    for (const reference of ['A', 'B', 'C']) await inbox.expect(money(reference));
    await inbox.receive(paid('A', 500, { transaction_amount: 300 }));
    await inbox.receive(paid('B', 600));
    await inbox.receive(paid('C', 500));
    await workOff(inbox);
    expect(await inbox.list({ reason: 'amount_mismatch' })).toHaveLength(2);
    const accept = async (reference: string, options: object): Promise<number> => {
      const body = (await show(reference))?.bodies[0]?.digest;
      return inbox.resolve(paid(reference, 500).transitionId, { ...NOTE, body, ...options });
    };
    await expect(accept('A', {})).rejects.toThrow(InvalidStateError);
    await expect(accept('A', { replace: true })).rejects.toMatchObject({ option: 'body' });
    await expect(accept('A', { replace: 'yes' })).rejects.toMatchObject({ option: 'replace' });
    await expect(accept('A', { replace: true, compare: 'all' })).rejects.toMatchObject({ option: 'compare' });
    await expect(accept('C', { replace: true })).rejects.toThrow(InvalidStateError);
    expect(await show('A')).toMatchObject({ state: 'quarantined', actions: [] });
    await accept('A', { replace: true, compare: 'transaction' });
    await accept('B', { replace: true });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 300', 'B 600', 'C 500']);
    expect(await show('A')).toMatchObject({
      state: 'settled',
      expectation: { amount: '300', compare: 'transaction', replaced: [{ amount: '500', compare: 'both' }] },
      actions: [{ action: 'resolve', ...NOTE }],
    });
  });

  test('a selection leaves out transitions that changed at or after a given time', async () => {
    const { merchant, inbox, pay } = await newShop(engine, LATER);
    await pay('A');
    await merchant.advance(60_000);
    await pay('B');
    const [latest] = await inbox.list({ state: 'unhandled' });
    const until = latest?.changedAt;
    expect(await inbox.resolve({ state: 'unhandled', until }, NOTE)).toBe(1);
    const left = await inbox.list({ state: 'unhandled' });
    expect(left.map(({ signed }) => signed.merchant_reference)).toEqual(['B']);
  });

  test('expectations() returns what is expected under a reference of the account, for every type', async () => {
    const { merchant, inbox, pay } = await newShop(engine, LATER);
    const deadline = new Date(1_900_000_000_000);
    await inbox.expect({ ...money('A'), deadline });
    await inbox.expect({ ...money('A', 7), transaction_type: 'PAYOUT' });
    await merchant.open({ account: 'other' }).expect(money('A', 9));
    await pay('A');
    expect(await inbox.expectations('A')).toMatchObject([
      {
        transaction_type: 'COLLECTION',
        currency: 'UGX',
        amount: '500',
        deadline,
        settledBy: paid('A', 500).transitionId,
      },
      { transaction_type: 'PAYOUT', amount: '7', deadline: undefined, settledBy: undefined },
    ]);
    expect(await inbox.expectations('B')).toEqual([]);
    await expect(inbox.expectations(1 as never)).rejects.toMatchObject({ option: 'merchant_reference' });
  });
});

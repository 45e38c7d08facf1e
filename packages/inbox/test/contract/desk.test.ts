import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, DAY_MS, LATER, money, NOTE, newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

const { transitionId } = paid('A', 500);

describe.each(ENGINES)('what people do, on %s', (engine) => {
  it('retry gives a dead transition all its attempts again, and keeps who and why', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ retry: { ...LATER.retry, attempts: 2 } });
    let isBroken = true;
    inbox.handle(async (transition) => {
      if (isBroken) throw new Error('broken');
      await creditIn(merchant)(transition);
    });
    await inbox.expect(money('A'));
    await inbox.receive(paid('A', 500));
    const exhaust = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await workOff(inbox);
        await merchant.clock.advance(DAY_MS);
      }
    };
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'dead', attempts: 2, actions: [] });
    expect(await inbox.retry(transitionId, NOTE)).toBe(1);
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'dead', attempts: 2 });
    isBroken = false;
    await inbox.retry(transitionId, { by: 'eli', note: 'the ledger is back' });
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({
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

  it('retry and resolve move all of a state and reason, or as many as the limit says', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    for (const reference of ['A', 'B', 'C', 'D', 'E']) await inbox.receive(paid(reference, 500));
    for (const reference of ['D', 'E']) await inbox.expect(money(reference, 7));
    await workOff(inbox);
    const unhandled = { state: 'unhandled', reason: 'no_expectation' } as const;
    expect(await inbox.retry({ ...unhandled, reason: 'no_handler' }, NOTE)).toBe(0);
    expect(await inbox.retry({ ...unhandled, limit: 2 }, NOTE)).toBe(2);
    expect((await inbox.stats()).states).toMatchObject({ pending: 2, unhandled: 1 });
    await workOff(inbox);
    expect(await inbox.resolve(unhandled, NOTE)).toBe(3);
    expect(await inbox.resolve(unhandled, NOTE)).toBe(0);
    expect(await inbox.resolve({ state: 'resolved' }, NOTE)).toBe(0);
    expect(await inbox.stats()).toMatchObject({ reasons: { closed_by_person: 3, amount_mismatch: 2 } });
    expect((await inbox.show(transitionId))?.actions.at(-1)).toMatchObject({ action: 'resolve', ...NOTE });
    const moved = merchant.events.filter(({ name }) => name === 'transition.moved');
    expect(moved).toHaveLength(5);
    expect(await merchant.credits()).toEqual([]);
  });

  it('nothing is moved without who and why, nor without a state, nor what is not there', async () => {
    const { inbox } = await newShop(engine);
    await inbox.receive(paid('A', 500));
    const notes = [undefined, {}, { by: 'dana' }, { by: ' ', note: 'x' }, { by: 'dana', note: '\0' }];
    for (const note of [...notes, { ...NOTE, by: 'x'.repeat(201) }, { ...NOTE, note: 'x'.repeat(1001) }]) {
      for (const call of [inbox.retry, inbox.resolve, inbox.reopen]) {
        const refused = Promise.resolve().then(() => Reflect.apply(call, undefined, [transitionId, note]));
        await expect(refused).rejects.toThrow(ConfigurationError);
      }
    }
    for (const which of [
      {},
      { reason: 'no_handler' },
      { state: 'x' },
      { state: 'dead', limit: 1001 },
      'x',
      undefined,
    ]) {
      const refused = Promise.resolve().then(() => Reflect.apply(inbox.resolve, undefined, [which, NOTE]));
      await expect(refused, JSON.stringify(which)).rejects.toThrow(ConfigurationError);
    }
    await expect(inbox.retry('0'.repeat(64), NOTE)).rejects.toMatchObject({ option: 'transitionId' });
    expect(await inbox.list()).toMatchObject([{ state: 'pending' }]);
  });

  it('resolve closes a transition: nothing applies it, and nothing but a person opens it again', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    await inbox.resolve(transitionId, NOTE);
    await inbox.expect(money('A'));
    await inbox.receive(paid('A', 501));
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'resolved', reason: 'closed_by_person' });
    expect(await merchant.credits()).toEqual([]);
    await inbox.reopen(transitionId, NOTE);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.resolve(transitionId, NOTE)).rejects.toThrow(InvalidStateError);
    expect((await inbox.show(transitionId))?.actions.map(({ action }) => action)).toEqual([
      'resolve',
      'reopen',
    ]);
  });

  it('resolve with a body accepts it: its amount becomes the expectation, and is applied once', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.receive(paid('A', 5_000_000));
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('A', 500, { transaction_amount: 499 }));
    await workOff(inbox);
    const { bodies = [], state } = (await inbox.show(transitionId)) ?? {};
    expect(state).toBe('conflict');
    const digestOf = (request: string, transaction: string): string | undefined =>
      bodies.find((each) => each.request.amount === request && each.transaction.amount === transaction)
        ?.digest;
    for (const body of ['0'.repeat(64), digestOf('500', '499')]) {
      await expect(inbox.resolve(transitionId, { ...NOTE, body })).rejects.toThrow(ConfigurationError);
    }
    const body = digestOf('500', '500');
    const all = Promise.resolve().then(() => inbox.resolve({ state: 'conflict' }, { ...NOTE, body }));
    await expect(all).rejects.toMatchObject({ option: 'body' });
    await inbox.resolve(transitionId, { ...NOTE, body });
    // It is an expectation now, and no other body takes its place.
    await expect(inbox.resolve(transitionId, { ...NOTE, body })).rejects.toThrow(InvalidStateError);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'A', amount: '500' }]);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'settled',
      actions: [{ action: 'resolve', ...NOTE }],
      expectation: { amount: '500', settledBy: transitionId },
    });
  });

  it('reopen has a settled transition applied once more, and no more than that', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.expect(money('A'));
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    await inbox.reopen(transitionId, NOTE);
    await expect(inbox.reopen(transitionId, NOTE)).rejects.toThrow(InvalidStateError);
    await workOff(inbox);
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(2);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'settled', deliveries: 2 });
  });

  it('reopen lets through what the order of statuses keeps back, and retry does not', async () => {
    const { inbox } = await newShop(engine, LATER);
    const applied: string[] = [];
    inbox.handle(({ signed }) => applied.push(signed.transaction_status), { status: '*' });
    await inbox.expect(money('A'));
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    for (const [status, state] of [
      ['FAILED', 'quarantined'],
      ['PENDING', 'superseded'],
    ] as const) {
      const late = paid('A', 500, { transaction_status: status });
      await inbox.receive(late);
      await workOff(inbox);
      if (state === 'quarantined') await inbox.retry(late.transitionId, NOTE);
      else await expect(inbox.retry(late.transitionId, NOTE)).rejects.toThrow(InvalidStateError);
      await workOff(inbox);
      expect(await inbox.show(late.transitionId)).toMatchObject({ state });
      expect(applied).not.toContain(status);
      if (status === 'PENDING') await inbox.reopen(late.transitionId, NOTE);
      await workOff(inbox);
    }
    expect(applied).toEqual(['PENDING']);
  });
});

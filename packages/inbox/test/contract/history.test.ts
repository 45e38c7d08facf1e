import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { actOnReport, DAY_MS, money, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

describe.each(ENGINES)('history() on %s', (engine) => {
  test('adds up each day exactly, the same before and after its hours are summed', async () => {
    const { merchant, inbox } = await newShop(engine);
    const pay = async (amounts: Readonly<Record<string, number>>): Promise<void> => {
      for (const [reference, amount] of Object.entries(amounts)) {
        await inbox.expect(money(reference, String(amount)));
        await inbox.route.onCallback(paid(reference, amount));
      }
      await workOff(inbox);
    };
    await pay({ A: 0.1, B: 0.2 });
    await merchant.advance(DAY_MS);
    await pay({ C: 0.2 });
    const both = [
      ['UGX', '0.3', 2],
      ['UGX', '0.2', 1],
    ];
    const shown = async (): Promise<unknown> => {
      const { settled } = await inbox.history();
      return settled.map(({ currency, amount, count }) => [currency, amount, count]);
    };
    expect(await shown()).toEqual(both);
    await merchant.advance(DAY_MS);
    await inbox.drain(); // It sums at most 48 hours at a time.
    for (let day = 0; day < 32; day++) await inbox.drain();
    expect(await shown()).toEqual(both);
    await inbox.prune({ archiveOlderThanDays: 1 });
    expect(await shown()).toEqual(both);
    expect((await inbox.history({ days: 1 })).settled).toEqual([]);
  });

  test('sums an hour again when a payment of it is applied again', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect(money('A', '5'));
    await inbox.route.onCallback(paid('A', 5));
    await workOff(inbox);
    await merchant.advance(2 * DAY_MS);
    for (let day = 0; day < 32; day++) await inbox.drain();
    const [found] = await inbox.reports();
    await actOnReport(inbox, found?.transitionId, 'applyAgain');
    await workOff(inbox);
    const { settled } = await inbox.history();
    expect(settled).toMatchObject([{ currency: 'UGX', amount: '5', count: 1 }]);
    expect(settled[0]?.day.getTime()).toBeGreaterThan(Date.now() - DAY_MS);
  });

  test("leaves out no payment of hours that were summed while the database's clock was ahead (threat A72)", async () => {
    const { merchant, inbox, sell } = await newShop(engine);
    await sell('A');
    await merchant.advance(2 * DAY_MS);
    await inbox.drain();
    await merchant.advance(-2 * DAY_MS);
    await sell('B');
    await merchant.advance(2 * DAY_MS);
    await inbox.drain();
    const { settled } = await inbox.history();
    expect(settled).toMatchObject([{ currency: 'UGX', amount: '1000', count: 2 }]);
  });

  test('lists what waits, the newest outcomes, and how long settlements took', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect(money('A', '5'));
    await inbox.route.onCallback(paid('A', 5));
    await inbox.expect(money('B', '5'));
    await inbox.route.onCallback(paid('B', 4, { provider_code: 'mtn_ug' }));
    await workOff(inbox);
    const { open, outcomes, delays } = await inbox.history();
    expect(open).toMatchObject([{ state: 'held', currency: 'UGX', amount: '5' }]);
    expect(outcomes.toSorted((one, other) => one.state.localeCompare(other.state))).toEqual([
      { at: expect.any(Date), state: 'held', needs: 'amount_mismatch' },
      { at: expect.any(Date), state: 'paid', needs: undefined },
    ]);
    expect(delays).toMatchObject([{ seconds: expect.any(Number) }]);
    expect(await inbox.reports({ merchant_reference: 'B' })).toMatchObject([
      {
        expected: { amount: '5' },
        claims: { request: { currency: 'UGX', amount: '4' } },
        provider: 'mtn_ug',
      },
    ]);
    // Of the last 48 hours only; what waits stays.
    await merchant.advance(2 * DAY_MS);
    const later = await inbox.history();
    expect([later.open.length, later.outcomes, later.delays]).toEqual([1, [], []]);
  });

  test('has each payment once, however many of its reports wait', async () => {
    const { merchant, inbox } = await newShop(engine);
    const [held, due, twice] = [money('HELD', '5'), money('DUE', '5'), money('TWICE', '5')];
    for (const each of [held, due, twice]) await inbox.expect(each);
    await inbox.expect({ ...money('LATE', '5'), deadline: new Date(Date.now() + DAY_MS) });
    for (const internal_reference of ['INT-1', 'INT-2']) {
      await inbox.route.onCallback(paid('HELD', 4, { internal_reference }));
      await inbox.route.onCallback(paid('TWICE', 5, { internal_reference }));
      await workOff(inbox);
    }
    for (const internal_reference of ['INT-1', 'INT-2'])
      await inbox.route.onCallback(paid('DUE', 5, { internal_reference }));
    await merchant.advance(DAY_MS);
    const { open, outcomes } = await inbox.history();
    expect(open).toMatchObject([
      { state: 'held', transaction_type: 'COLLECTION', amount: '5' },
      { state: 'open', transaction_type: 'COLLECTION', amount: '5' },
    ]);
    const states = outcomes.map(({ state, needs = '' }) => `${state} ${needs}`).toSorted();
    expect(states).toEqual(['held amount_mismatch', 'open ', 'overdue ', 'paid already_settled']);
  });
});

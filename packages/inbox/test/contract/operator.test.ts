import { describe, expect, it } from 'vitest';
import { evidence, paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, DAY_MS, LATER, MINUTE_MS, money, NOTE, newShop, ORDER } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('what an operator looks at, on %s', (engine) => {
  it('counts every state and reason, and what is overdue', async () => {
    const { merchant, inbox } = await newShop(engine, {
      retry: { firstDelayMs: DAY_MS, longestDelayMs: DAY_MS },
    });
    const deadline = new Date(Date.now() + 60 * MINUTE_MS);
    for (const reference of ['A', 'B', 'C']) await inbox.expect({ ...money(reference), deadline });
    await inbox.expect(money('D', '1.50'));
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('B', 501));
    await inbox.receive(paid('Z', 500));
    await workOff(inbox);
    await inbox.receive(paid('Y', 500));
    expect(await inbox.overdue()).toEqual([]);
    await merchant.clock.advance(61 * MINUTE_MS);
    const late = new Date(deadline.getTime() - 61 * MINUTE_MS);
    expect(await inbox.overdue()).toEqual([
      { merchant_reference: 'B', currency: 'UGX', amount: '500', deadline: late },
      { merchant_reference: 'C', currency: 'UGX', amount: '500', deadline: late },
    ]);
    expect(await inbox.overdue({ limit: 1 })).toHaveLength(1);
    const none = { retrying: 0, superseded: 0, conflict: 0, dead: 0, resolved: 0 };
    const { oldestDueSeconds, ...stats } = await inbox.stats();
    expect(stats).toEqual({
      states: { ...none, pending: 1, settled: 1, unhandled: 1, quarantined: 1 },
      reasons: { no_expectation: 1, amount_mismatch: 1 },
      overdue: 2,
      spooled: 0,
    });
    expect(oldestDueSeconds).toBeGreaterThanOrEqual(61 * 60);
  });

  it('health fails when the oldest due transition waits too long, not when one waits for its next attempt', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    expect(await inbox.health()).toEqual({ ok: true, problems: [], oldestDueSeconds: 0, spooled: 0 });
    await inbox.receive(paid('A', 500));
    await merchant.clock.advance(30 * MINUTE_MS);
    expect(await inbox.health({ maxPendingAgeSeconds: 60 * 60 })).toMatchObject({ ok: true, problems: [] });
    expect(await inbox.health({ maxPendingAgeSeconds: 29 * 60 })).toMatchObject({
      ok: false,
      problems: ['oldest_due_too_old'],
      oldestDueSeconds: expect.closeTo(30 * 60, -2),
    });
    await workOff(inbox);
    expect(await inbox.health({ maxPendingAgeSeconds: 1 })).toMatchObject({ ok: true, oldestDueSeconds: 0 });
    expect(await inbox.list()).toMatchObject([{ nextAt: expect.any(Date) }]);
    // What it tried to keep is gone.
    expect(await inbox.list()).toHaveLength(1);
  });

  it('prune removes old bodies where nobody needs them, and keeps tombstones and claims', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    for (const reference of ['SETTLED', 'FORGED']) await inbox.expect(money(reference));
    for (const reference of ['SETTLED', 'FORGED', 'UNHANDLED', 'RESOLVED']) {
      await inbox.receive(paid(reference, 500.5));
    }
    await inbox.receive(paid('SETTLED', 500));
    await workOff(inbox);
    await inbox.resolve(paid('RESOLVED', 500).transitionId, NOTE);
    await merchant.clock.advance(90 * DAY_MS);
    await inbox.receive(paid('YOUNG', 500));
    await workOff(inbox);
    expect(await inbox.prune({ bodiesOlderThanDays: 91 })).toEqual({ bodies: 0 });
    expect(await inbox.prune()).toEqual({ bodies: 4 });
    expect(await inbox.prune()).toEqual({ bodies: 0 });
    const textsOf = async (reference: string): Promise<(string | undefined)[] | undefined> =>
      (await inbox.show(paid(reference, 500).transitionId))?.bodies.map(({ text }) => text);
    for (const reference of ['FORGED', 'YOUNG']) {
      expect(await textsOf(reference)).toEqual([expect.stringContaining('Example Customer')]);
    }
    expect(await textsOf('SETTLED')).toEqual([undefined, undefined]);
    const pruned = await inbox.show(paid('SETTLED', 500).transitionId);
    expect(pruned?.bodies.map(({ request }) => request.amount).sort()).toEqual(['500', '500.5']);
    await inbox.receive(paid('SETTLED', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    const tombstone = { state: 'settled', deliveries: 3, bodyCount: 2 };
    expect(await inbox.show(paid('SETTLED', 500).transitionId)).toMatchObject(tombstone);
    await inbox.expect(money('UNHANDLED', '500.5'));
    await workOff(inbox);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['SETTLED', 'UNHANDLED']);
  });

  it('prune goes through more bodies than one of its transactions takes', async () => {
    const { merchant, inbox } = await newShop(engine, { ...LATER, storeTimeoutMs: 60_000 });
    const references = Array.from({ length: 600 }, (_, index) => `ORD-${index}`);
    await Promise.all(references.map((reference) => inbox.receive(paid(reference, 500))));
    await merchant.query(`update ${merchant.table('transition')} set state = 'settled', next_at = null`);
    await merchant.clock.advance(91 * DAY_MS);
    expect(await inbox.prune()).toEqual({ bodies: 600 });
  });

  it('no event holds personal data, a reference or an amount', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ retry: { ...LATER.retry, attempts: 2 } });
    inbox.handle(({ signed }) => {
      if (signed.merchant_reference === 'SECRET-BAD') throw new Error('SECRET-PERSON');
    });
    for (const reference of ['SECRET-A', 'SECRET-BAD', 'SECRET-WRONG']) {
      await inbox.expect({ merchant_reference: reference, currency: 'XSE', amount: '987654.25' });
    }
    const secret = {
      request_amount: 987654.25,
      transaction_amount: 987654.25,
      request_currency: 'XSE',
      transaction_currency: 'XSE',
      customer_name: 'SECRET-PERSON',
      transaction_account: '987654321',
    };
    for (const reference of ['SECRET-A', 'SECRET-BAD', 'SECRET-NONE']) {
      await inbox.receive(paid(reference, 0, { ...secret, internal_reference: `SECRET-INT-${reference}` }));
    }
    await inbox.receive(paid('SECRET-WRONG', 0, { ...secret, request_amount: 987654321 }));
    await inbox.quarantine(evidence('ambiguous', secret));
    for (let round = 0; round < 2; round += 1) {
      await workOff(inbox);
      await merchant.clock.advance(MINUTE_MS);
    }
    expect(await inbox.resolve({ state: 'dead' }, { by: 'SECRET-PERSON', note: 'SECRET-NOTE' })).toBe(1);
    const names = new Set(merchant.events.map(({ name }) => name));
    expect([...names].sort()).toEqual([
      'callback.received',
      'transition.moved',
      'transition.parked',
      'transition.retrying',
      'transition.settled',
      'worker.started',
      'worker.stopped',
    ]);
    const reported = JSON.stringify(merchant.events);
    for (const text of ['SECRET', '987654', 'XSE', 'ORD']) expect(reported).not.toContain(text);
  });

  it('a hook that throws or rejects changes nothing', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({
      onEvent: (event) => {
        if (event.name === 'worker.started') throw new Error('from the hook');
        return event.name === 'transition.settled' ? Promise.reject(new Error('from the hook')) : undefined;
      },
    });
    inbox.handle(creditIn(merchant));
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

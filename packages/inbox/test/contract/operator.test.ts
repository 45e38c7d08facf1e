import { describe, expect, it } from 'vitest';
import { evidence, paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('what an operator looks at, on %s', (engine) => {
  it('counts every state, and what is overdue', async () => {
    const { merchant, inbox } = await newShop(engine);
    const deadline = new Date(merchant.clock.now() + 60_000);
    for (const reference of ['A', 'B', 'C']) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500, deadline });
    }
    await inbox.expect({ merchant_reference: 'D', currency: 'UGX', amount: '1.50' });
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('B', 501));
    await inbox.receive(paid('Z', 500));
    await workOff(inbox);
    await inbox.receive(paid('Y', 500));
    expect(await inbox.overdue()).toEqual([]);
    await merchant.clock.advance(60_001);
    expect(await inbox.overdue()).toEqual([
      { merchant_reference: 'B', currency: 'UGX', amount: '500', deadline },
      { merchant_reference: 'C', currency: 'UGX', amount: '500', deadline },
    ]);
    expect(await inbox.overdue({ limit: 1 })).toHaveLength(1);
    expect(await inbox.stats()).toEqual({
      states: {
        pending: 1,
        retrying: 0,
        settled: 1,
        unhandled: 1,
        quarantined: 1,
        conflict: 0,
        dead: 0,
        resolved: 0,
      },
      oldestDueSeconds: 60.001,
      overdue: 2,
      spooled: 0,
    });
  });

  it('health fails when the oldest due transition waits too long, not when one waits for its next attempt', async () => {
    const { merchant, inbox } = await newShop(engine);
    expect(await inbox.health()).toEqual({ ok: true, problems: [], oldestDueSeconds: 0, spooled: 0 });
    await inbox.receive(paid('A', 500));
    await merchant.clock.advance(30_000);
    expect(await inbox.health({ maxPendingAgeSeconds: 30 })).toMatchObject({
      ok: true,
      oldestDueSeconds: 30,
    });
    expect(await inbox.health({ maxPendingAgeSeconds: 29 })).toMatchObject({
      ok: false,
      problems: ['oldest_due_too_old'],
    });
    await workOff(inbox);
    expect((await inbox.health({ maxPendingAgeSeconds: 1 })).ok).toBe(true);
  });

  it('prune removes old bodies where nobody needs them, and keeps tombstones and claims', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'SETTLED', currency: 'UGX', amount: 500 });
    await inbox.expect({ merchant_reference: 'FORGED', currency: 'UGX', amount: 500 });
    for (const reference of ['SETTLED', 'FORGED', 'UNHANDLED', 'RESOLVED'])
      await inbox.receive(paid(reference, 500.5));
    await inbox.receive(paid('SETTLED', 500));
    await workOff(inbox);
    await inbox.resolve(paid('RESOLVED', 500).transitionId, { note: 'closed' });
    await merchant.clock.advance(90 * DAY_MS);
    await inbox.receive(paid('YOUNG', 500));
    await workOff(inbox);
    expect(await inbox.prune({ bodiesOlderThanDays: 91 })).toEqual({ bodies: 0 });
    await merchant.clock.advance(1);
    expect(await inbox.prune()).toEqual({ bodies: 4 });
    expect(await inbox.prune()).toEqual({ bodies: 0 });
    const kept = await inbox.show(paid('FORGED', 500).transitionId);
    expect(kept?.bodies.every(({ text }) => text !== undefined)).toBe(true);
    expect((await inbox.show(paid('YOUNG', 500).transitionId))?.bodies[0]?.text).toContain(
      'Example Customer',
    );
    const pruned = await inbox.show(paid('SETTLED', 500).transitionId);
    expect(pruned?.bodies.map(({ text }) => text)).toEqual([undefined, undefined]);
    expect(pruned?.bodies.map(({ request }) => request.amount).sort()).toEqual(['500', '500.5']);
    await inbox.receive(paid('SETTLED', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    expect(await inbox.show(paid('SETTLED', 500).transitionId)).toMatchObject({
      state: 'settled',
      deliveries: 3,
      bodyCount: 2,
    });
    await inbox.expect({ merchant_reference: 'UNHANDLED', currency: 'UGX', amount: '500.5' });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([
      { reference: 'SETTLED', amount: '500' },
      { reference: 'UNHANDLED', amount: '500.5' },
    ]);
  });

  it('prune goes through more bodies than one of its transactions takes', async () => {
    const { merchant, inbox } = await newShop(engine);
    const references = Array.from({ length: 600 }, (_each, index) => `ORD-${index}`);
    await Promise.all(references.map((reference) => inbox.receive(paid(reference, 500))));
    await workOff(inbox);
    await merchant.clock.advance(91 * DAY_MS);
    expect(await inbox.prune()).toEqual({ bodies: 600 });
  });

  it('no event holds personal data, a reference or an amount', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ retry: { attempts: 2, firstDelayMs: 1 } });
    inbox.handle(({ signed }) => {
      if (signed.merchant_reference === 'SECRET-BAD') throw new Error('SECRET-PERSON');
    });
    for (const reference of ['SECRET-A', 'SECRET-BAD', 'SECRET-WRONG']) {
      await inbox.expect({ merchant_reference: reference, currency: 'XSE', amount: '987654.25' });
    }
    const amounts = { request_amount: 987654.25, transaction_amount: 987654.25 };
    const secret = {
      ...amounts,
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
    for (let round = 0; round < 3; round += 1) {
      await workOff(inbox);
      await merchant.clock.advance(10_000);
    }
    await inbox.resolve(callbackId(await inbox.list({ state: 'dead' })), { note: 'SECRET-NOTE' });
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
    inbox.handle(({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount));
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

function callbackId(listed: readonly { readonly transitionId: string }[]): string {
  const [first] = listed;
  if (first === undefined) throw new Error('The test expected a transition.');
  return first.transitionId;
}

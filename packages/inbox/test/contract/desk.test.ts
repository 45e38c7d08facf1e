import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import type { Inbox } from '../../src/index.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import {
  type AnyTransaction,
  ENGINES,
  type EngineName,
  type Merchant,
  newMerchant,
} from '../support/merchant.ts';
import { workOff } from '../support/working.ts';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('what people do, on %s', (engine) => {
  it('lists the newest first, by state, in pages', async () => {
    const { merchant, inbox } = await shop(engine);
    for (const reference of ['A', 'B', 'C', 'D', 'E']) await inbox.receive(paid(reference, 500));
    await inbox.expect({ merchant_reference: 'C', currency: 'UGX', amount: 500 });
    await workOff(inbox, merchant.clock.now);
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

  it('shows a transition with its bodies and its expectation', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: '500', compare: 'request' });
    const verified = paid('A', 500);
    await inbox.receive(verified);
    await workOff(inbox, merchant.clock.now);
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

  it('retry gives a dead transition all its attempts again', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ retry: { attempts: 2 } });
    let isBroken = true;
    inbox.handle(async ({ tx, signed, settled }) => {
      if (isBroken) throw new Error('broken');
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
    });
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    const { transitionId } = paid('A', 500);
    await inbox.receive(paid('A', 500));
    const exhaust = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await workOff(inbox, merchant.clock.now);
        merchant.clock.advance(DAY_MS);
      }
    };
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'dead', attempts: 2 });
    await inbox.retry(transitionId);
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'dead', attempts: 2 });
    isBroken = false;
    await inbox.retry(transitionId);
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'settled', lastError: undefined });
    await expect(inbox.retry(transitionId)).rejects.toThrow(ConfigurationError);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('retry does not get around a rule', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 700 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox, merchant.clock.now);
    await inbox.retry(paid('A', 500).transitionId);
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
  });

  it('resolve closes a transition with a note: nothing applies it, and nothing but a person opens it again', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('A', 500));
    await workOff(inbox, merchant.clock.now);
    const { transitionId } = paid('A', 500);
    await expect(inbox.resolve(transitionId, { note: ' ' })).rejects.toThrow(ConfigurationError);
    await inbox.resolve(transitionId, { note: 'refunded by hand' });
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 501));
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'resolved',
      reason: 'closed_by_person',
      note: 'refunded by hand',
    });
    expect(await merchant.credits()).toEqual([]);
    await inbox.reopen(transitionId);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.resolve(transitionId, { note: 'too late' })).rejects.toThrow(ConfigurationError);
  });

  it('resolve with a body accepts it: its amount becomes the expectation, and is applied once', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('A', 5_000_000));
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('A', 500, { transaction_amount: 499 }));
    await workOff(inbox, merchant.clock.now);
    const { transitionId } = paid('A', 500);
    const details = await inbox.show(transitionId);
    expect(details?.state).toBe('conflict');
    const digestOf = (request: string, transaction: string): string =>
      details?.bodies.find(
        (each) => each.request.amount === request && each.transaction.amount === transaction,
      )?.digest ?? '';
    const note = 'confirmed in the dashboard of the service';
    for (const wrong of ['0'.repeat(64), digestOf('500', '499')]) {
      await expect(inbox.resolve(transitionId, { note, body: wrong })).rejects.toThrow(ConfigurationError);
    }
    await inbox.resolve(transitionId, { note, body: digestOf('500', '500') });
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([{ reference: 'A', amount: '500' }]);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'settled',
      note,
      expectation: { amount: '500', settledBy: transitionId },
    });
  });

  it("resolve does not put a body's amount in the place of an expectation", async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 700 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox, merchant.clock.now);
    const { transitionId } = paid('A', 500);
    const body = (await inbox.show(transitionId))?.bodies[0]?.digest;
    await expect(inbox.resolve(transitionId, { note: 'ok', body })).rejects.toThrow(ConfigurationError);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'quarantined',
      expectation: { amount: '700' },
    });
  });

  it('reopen has a settled transition applied once more, and no more than that', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox, merchant.clock.now);
    const { transitionId } = paid('A', 500);
    await inbox.reopen(transitionId);
    await workOff(inbox, merchant.clock.now);
    await inbox.receive(paid('A', 500));
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(2);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'settled', deliveries: 2 });
  });

  it('reopen lets through what the order of statuses keeps back', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const applied: string[] = [];
    inbox.handle(({ signed }) => applied.push(signed.transaction_status), {
      statuses: ['COMPLETED', 'FAILED'],
    });
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox, merchant.clock.now);
    const failed = paid('A', 500, { transaction_status: 'FAILED' });
    await inbox.receive(failed);
    await workOff(inbox, merchant.clock.now);
    await inbox.retry(failed.transitionId);
    await workOff(inbox, merchant.clock.now);
    expect(applied).toEqual(['COMPLETED']);
    await inbox.reopen(failed.transitionId);
    await workOff(inbox, merchant.clock.now);
    expect(applied).toEqual(['COMPLETED', 'FAILED']);
  });

  it('keeps evidence, and applies nothing from what can be read in two ways', async () => {
    const { merchant, inbox } = await shop(engine);
    const refusal = evidence('ambiguous');
    const { transitionId } = refusal.evidence;
    await inbox.quarantine(refusal);
    await inbox.quarantine(refusal);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'quarantined',
      reason: 'ambiguous',
      deliveries: 2,
      bodies: [{ refusal: 'ambiguous' }],
    });
    await inbox.expect({ merchant_reference: 'ORD:1001', currency: 'UGX', amount: 500 });
    await inbox.retry(transitionId);
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'quarantined', reason: 'ambiguous' });
    await expect(inbox.reopen(transitionId)).rejects.toThrow(ConfigurationError);
    const body = (await inbox.show(transitionId))?.bodies[0]?.digest;
    await expect(inbox.resolve(transitionId, { note: 'ok', body })).rejects.toThrow(ConfigurationError);
    await inbox.resolve(transitionId, { note: 'somebody tried to shift the colon' });
    expect(await merchant.credits()).toEqual([]);
  });

  it('evidence that only the tolerance refused is applied when a person reopens it', async () => {
    const { merchant, inbox } = await shop(engine);
    const refusal = evidence('timestamp_out_of_tolerance');
    const { transitionId } = refusal.evidence;
    await inbox.quarantine(refusal);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'quarantined',
      reason: 'timestamp_out_of_tolerance',
    });
    await inbox.reopen(transitionId);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1001', amount: '500' }]);
  });

  it('evidence becomes a callback like any other when it comes again and verifies', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await inbox.quarantine(evidence('timestamp_out_of_tolerance'));
    await inbox.receive(callback());
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'settled', deliveries: 2, bodyCount: 1 }]);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('evidence never counts as a body: it neither settles nor makes a conflict', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(paid('ORD-1001', 700, { internal_reference: 'INT-77' }));
    await inbox.quarantine(evidence('timestamp_out_of_tolerance'));
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([
      { state: 'unhandled', reason: 'no_expectation', bodyCount: 2 },
    ]);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
    expect(await merchant.credits()).toEqual([]);
  });
});

describe.each(ENGINES)('what an operator looks at, on %s', (engine) => {
  it('counts every state, and what is overdue', async () => {
    const { merchant, inbox } = await shop(engine);
    const deadline = new Date(merchant.clock.now() + 60_000);
    for (const reference of ['A', 'B', 'C']) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500, deadline });
    }
    await inbox.expect({ merchant_reference: 'D', currency: 'UGX', amount: '1.50' });
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('B', 501));
    await inbox.receive(paid('Z', 500));
    await workOff(inbox, merchant.clock.now);
    await inbox.receive(paid('Y', 500));
    expect(await inbox.overdue()).toEqual([]);
    merchant.clock.advance(60_001);
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
    const { merchant, inbox } = await shop(engine);
    expect(await inbox.health()).toEqual({ ok: true, problems: [], oldestDueSeconds: 0, spooled: 0 });
    await inbox.receive(paid('A', 500));
    merchant.clock.advance(30_000);
    expect(await inbox.health({ maxPendingAgeSeconds: 30 })).toMatchObject({
      ok: true,
      oldestDueSeconds: 30,
    });
    expect(await inbox.health({ maxPendingAgeSeconds: 29 })).toMatchObject({
      ok: false,
      problems: ['oldest_due_too_old'],
    });
    await workOff(inbox, merchant.clock.now);
    expect((await inbox.health({ maxPendingAgeSeconds: 1 })).ok).toBe(true);
  });

  it('prune removes old bodies where nobody needs them, and keeps tombstones and claims', async () => {
    const { merchant, inbox } = await shop(engine);
    await inbox.expect({ merchant_reference: 'SETTLED', currency: 'UGX', amount: 500 });
    await inbox.expect({ merchant_reference: 'FORGED', currency: 'UGX', amount: 500 });
    for (const reference of ['SETTLED', 'FORGED', 'UNHANDLED', 'RESOLVED'])
      await inbox.receive(paid(reference, 500.5));
    await inbox.receive(paid('SETTLED', 500));
    await workOff(inbox, merchant.clock.now);
    await inbox.resolve(paid('RESOLVED', 500).transitionId, { note: 'closed' });
    merchant.clock.advance(90 * DAY_MS);
    await inbox.receive(paid('YOUNG', 500));
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.prune({ bodiesOlderThanDays: 91 })).toEqual({ bodies: 0 });
    merchant.clock.advance(1);
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
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(1);
    expect(await inbox.show(paid('SETTLED', 500).transitionId)).toMatchObject({
      state: 'settled',
      deliveries: 3,
      bodyCount: 2,
    });
    await inbox.expect({ merchant_reference: 'UNHANDLED', currency: 'UGX', amount: '500.5' });
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([
      { reference: 'SETTLED', amount: '500' },
      { reference: 'UNHANDLED', amount: '500.5' },
    ]);
  });

  it('prune goes through more bodies than one of its transactions takes', async () => {
    const { merchant, inbox } = await shop(engine);
    const references = Array.from({ length: 600 }, (_each, index) => `ORD-${index}`);
    await Promise.all(references.map((reference) => inbox.receive(paid(reference, 500))));
    await workOff(inbox, merchant.clock.now);
    merchant.clock.advance(91 * DAY_MS);
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
      await workOff(inbox, merchant.clock.now);
      merchant.clock.advance(10_000);
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
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

async function shop(engine: EngineName): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open();
  inbox.handle(({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount));
  return { merchant, inbox };
}

async function references(
  inbox: Inbox<AnyTransaction>,
  options?: Parameters<Inbox<AnyTransaction>['list']>[0],
): Promise<string[]> {
  return (await inbox.list(options)).map(({ signed }) => signed.merchant_reference);
}

function callbackId(listed: readonly { readonly transitionId: string }[]): string {
  const [first] = listed;
  if (first === undefined) throw new Error('The test expected a transition.');
  return first.transitionId;
}

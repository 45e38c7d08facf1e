import { describe, expect, test } from 'vitest';
import type { Act, Payment, PaymentPage } from '../../src/index.ts';
import { versionOf } from '../../src/operator/version.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import {
  actOnReport,
  creditIn,
  DAY_MS,
  LATER,
  MINUTE_MS,
  money,
  NOTE,
  newShop,
  REPLACE,
} from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const failing = (reference: string, payload = {}) =>
  paid(reference, 500, { transaction_status: 'FAILED', ...payload }, { event: 'transaction.failed' });

describe.each(ENGINES)('what becomes of a payment on %s', (engine) => {
  const open = async () => {
    const shop = await newShop(engine, LATER);
    for (const name of ['failed', 'reversed', 'status'] as const) shop.inbox.handle(name, () => undefined);
    const stateOf = async (reference: string): Promise<string | undefined> => {
      const payment = await shop.inbox.payment(reference);
      return payment?.needs === undefined ? payment?.state : `${payment.state}, ${payment.needs}`;
    };
    return { ...shop, stateOf };
  };

  test('each state has one meaning, in the payment, in the list and in the counts', async () => {
    const { inbox, merchant, deliver, stateOf } = await open();
    const deadline = new Date(Date.now() + MINUTE_MS);
    for (const reference of ['LATE', 'HELD', 'FAILED']) await inbox.expect({ ...money(reference), deadline });
    for (const reference of ['OPEN', 'PAID', 'TWICE', 'REVERSED', 'AGAIN'])
      await inbox.expect(money(reference));
    await deliver(
      ...['PAID', 'TWICE', 'REVERSED', 'UNEXPECTED'].map((reference) => paid(reference, 500)),
      ...[paid('HELD', 700), failing('FAILED'), failing('AGAIN')],
    );
    await deliver(
      paid('TWICE', 500, { internal_reference: 'SECOND' }),
      paid('REVERSED', 500, { transaction_status: 'REVERSED' }, { event: 'transaction.reversed' }),
      paid('AGAIN', 500, { internal_reference: 'ATTEMPT-2' }),
      failing('PAID', { internal_reference: 'ATTEMPT-1' }),
    );
    await inbox.route.onAuthenticRefusal(
      evidence('timestamp_out_of_tolerance', { merchant_reference: 'EVIDENCE', internal_reference: 'E-1' }),
    );
    await workOff(inbox);
    await merchant.advance(2 * MINUTE_MS);
    const wanted = {
      AGAIN: 'paid',
      EVIDENCE: 'held, timestamp_out_of_tolerance',
      FAILED: 'failed',
      HELD: 'held, amount_mismatch',
      LATE: 'overdue',
      OPEN: 'open',
      PAID: 'paid',
      REVERSED: 'reversed',
      TWICE: 'paid, already_settled',
      UNEXPECTED: 'unexpected, no_expectation',
    };
    for (const [reference, state] of Object.entries(wanted))
      expect(await stateOf(reference), reference).toBe(state);
    const listed: Record<string, string> = {};
    for await (const { merchant_reference, state, needs } of inbox.payments({ limit: 3 }))
      listed[merchant_reference] = needs === undefined ? state : `${state}, ${needs}`;
    expect(listed).toEqual(wanted);
    expect(await inbox.counts()).toEqual({
      ...{ held: 2, unexpected: 1, overdue: 1, open: 1, paid: 3, reversed: 1, failed: 1, canceled: 0 },
      ...{ needed: 4, archived: 0 },
    });
    const named = async (filter: object): Promise<string[]> =>
      (await inbox.payments(filter)).items.map(({ merchant_reference }) => merchant_reference).toSorted();
    expect(await named({ needed: true })).toEqual(['EVIDENCE', 'HELD', 'TWICE', 'UNEXPECTED']);
    expect(await named({ reason: 'already_settled' })).toEqual(['TWICE']);
    expect(await named({ state: 'open' })).toEqual(['OPEN']);
    expect(await named({ state: ['overdue', 'failed'] })).toEqual(['FAILED', 'LATE']);
    expect(await named({ search: 'ev' })).toEqual(['EVIDENCE', 'REVERSED']);
    expect(await named({ search: 'ATTEMPT-2' })).toEqual(['AGAIN']);
    expect(await named({ until: new Date(0) })).toEqual([]);
  });

  test('a failure ends the waiting, and a later payment pays; a second page of the same is the same payment', async () => {
    const { inbox, deliver, stateOf } = await open();
    await inbox.expect(money('ORD-1'));
    await deliver(failing('ORD-1'));
    expect(await stateOf('ORD-1')).toBe('failed');
    await deliver(paid('ORD-1', 500, { internal_reference: 'SECOND' }));
    const payment = await inbox.payment({ internal_reference: 'SECOND' });
    expect(payment).toMatchObject({ state: 'paid', settled: { amount: '500' }, needs: undefined });
    expect(payment?.reports).toHaveLength(2);
  });

  test('what an operator accepts is kept with who replaced what', async () => {
    const { inbox, pay, stateOf } = await open();
    await inbox.expect(money('ORD-1', 5000));
    await pay('ORD-1', 3000);
    const { transitionId } = paid('ORD-1', 3000);
    await actOnReport(inbox, transitionId, 'accept');
    expect(await stateOf('ORD-1')).toBe('open');
    await workOff(inbox);
    const paidIn: Partial<Payment> = {
      state: 'paid',
      settled: { currency: 'UGX', amount: '3000', at: expect.any(Date), report: transitionId },
      replaced: [{ ...NOTE, currency: 'UGX', amount: '5000', compare: 'both', at: expect.any(Date) }],
    };
    expect(await inbox.payment('ORD-1')).toMatchObject(paidIn);
    await expect(inbox.expect(money('ORD-1', 5000), REPLACE)).rejects.toThrow('settled');
  });

  test('one that was held is open while the handler of its second body fails', async () => {
    const { inbox, deliver } = await newShop(engine, LATER, async () => {
      throw new Error('The ledger is away.');
    });
    await inbox.expect(money('ORD-1'));
    await deliver(paid('ORD-1', 700));
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'held', needs: 'amount_mismatch' });
    await deliver(paid('ORD-1', 500));
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'open', needs: undefined });
    expect(await inbox.counts()).toMatchObject({ held: 0, open: 1, needed: 0 });
  });

  test('a dead one is held, and a retry opens it again', async () => {
    const options = { retry: { attempts: 1 }, onError: () => undefined };
    let isBroken = true;
    const { inbox, pay } = await newShop(engine, options, async () => {
      if (isBroken) throw new Error('The ledger is away.');
    });
    await inbox.expect(money('ORD-1'));
    await pay('ORD-1');
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'held', needs: 'attempts_used_up' });
    isBroken = false;
    await actOnReport(inbox, paid('ORD-1', 500).transitionId, 'retry');
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'open', needs: undefined });
    await workOff(inbox);
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'paid', needs: undefined });
    const signal = AbortSignal.timeout(5000);
    expect(await inbox.outcome('ORD-1', { signal })).toMatchObject({ state: 'paid' });
    await expect(inbox.outcome('NONE', { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

describe.each(ENGINES)('lists of payments on %s', (engine) => {
  const named = async (payments: PromiseLike<PaymentPage>): Promise<string[]> =>
    (await payments).items.map(({ merchant_reference: name, state }) => `${name} ${state}`).toSorted();

  test('a list of what a person must look at has each of a state, in pages, and a search has no other', async () => {
    const { inbox, sell, pay } = await newShop(engine, LATER);
    await sell('TWICE-1', 'TWICE-2', 'ONCE');
    for (const reference of ['TWICE-1', 'TWICE-2'])
      await pay(reference, 500, { internal_reference: 'SECOND' });
    for (const reference of ['NONE-1', 'NONE-2']) await pay(reference);
    const found: string[] = [];
    for await (const { merchant_reference } of inbox.payments({ needed: true, state: 'paid', limit: 1 }))
      found.push(merchant_reference);
    expect(found.toSorted()).toEqual(['TWICE-1', 'TWICE-2']);
    expect(await named(inbox.payments({ needed: true, search: 'ONCE' }))).toEqual([]);
    expect(await named(inbox.payments({ reason: 'already_settled', search: 'NONE-1' }))).toEqual([]);
    expect(await named(inbox.payments({ search: 'ONCE' }))).toEqual(['ONCE paid']);
  });

  test('either reference is found by any part in any case, a whole one first and also in the archive', async () => {
    const { inbox, merchant, sell, pay } = await newShop(engine, LATER);
    const found = async (search: string, more = {}): Promise<string> =>
      (await inbox.payments({ search, ...more })).items.map((one) => one.merchant_reference).join();
    await sell('Old-1');
    await merchant.advance(400 * DAY_MS);
    expect(await inbox.prune({ archiveOlderThanDays: 365 })).toMatchObject({ archived: 1 });
    for (const [reference, internal_reference] of [
      ['ORD-1', 'SVC-a"b%c\\d'],
      ['ORD-10', 'x-ORD-1-x'],
      ['ord-2', 'SVC-É'],
    ] as const) {
      await inbox.expect(money(reference));
      await pay(reference, 500, { internal_reference });
      await merchant.advance(1000);
    }
    const wanted = {
      ...{ 'ORD-1': 'ORD-1,ORD-10', 'ord-1': 'ORD-1,ORD-10', rd: 'ord-2,ORD-10,ORD-1', 'ORD-2': 'ord-2' },
      ...{
        'svc-': 'ord-2,ORD-1',
        'A"B%C\\D': 'ORD-1',
        'SVC-É': 'ord-2',
        É: 'ord-2',
        'a%c': '',
        a_b: '',
        '\\': 'ORD-1',
      },
      // Neither the names of the signed fields nor the other ones.
      ...{
        merchant_reference: '',
        completed: '',
        '"': 'ORD-1',
        old: '',
        'Old-1': 'Old-1',
        'INT-OLD-1': '',
        'INT-Old-1': 'Old-1',
      },
    };
    for (const [search, names] of Object.entries(wanted)) expect(await found(search), search).toBe(names);
    expect(await found('Old-1', { state: 'failed' })).toBe('');
    expect((await inbox.payments({ search: 'Old-1' })).items).toMatchObject([
      { isArchived: true, state: 'paid' },
    ]);
    const pages: string[] = [];
    for await (const one of inbox.payments({ search: 'ord-1', limit: 1 })) pages.push(one.merchant_reference);
    expect(pages).toEqual(['ORD-1', 'ORD-10']);
  });

  test('a provider that any body of a report names finds its payment', async () => {
    const { inbox, sell, deliver } = await newShop(engine, LATER);
    await sell('NONE');
    await inbox.expect(money('ORD-1'));
    for (const [amount, provider_code] of [
      [700, 'mtn_ug'],
      [500, 'airtel'],
    ] as const)
      await deliver(paid('ORD-1', amount, { provider_code }));
    const found = async (filter: object): Promise<string> => (await named(inbox.payments(filter))).join();
    for (const provider of ['mtn_ug', 'airtel']) expect(await found({ provider })).toBe('ORD-1 paid');
    for (const more of [{ state: 'held' }, { search: 'NONE' }, { provider: 'mtn' }])
      expect(await found({ provider: 'mtn_ug', ...more })).toBe('');
    expect(await found({ provider: 'airtel', search: 'ORD-1' })).toBe('ORD-1 paid');
  });

  test('overdue ones are listed by their deadline, equal ones too, page by page', async () => {
    const { inbox } = await newShop(engine, LATER);
    const deadlines = { LATE: 3000, FIRST: 1000, SAME: 2000, 'SAME-TOO': 2000, OTHER: 2000 };
    for (const [reference, at] of Object.entries(deadlines))
      await inbox.expect({ ...money(reference), deadline: new Date(at) });
    await inbox.expect(money('OPEN'));
    const found: string[] = [];
    for await (const one of inbox.payments({ state: 'overdue', limit: 1 }))
      found.push(one.merchant_reference);
    expect([found[0], found.slice(1, 4).toSorted(), found[4]]).toEqual([
      'FIRST',
      ['OTHER', 'SAME', 'SAME-TOO'],
      'LATE',
    ]);
    expect(found).toHaveLength(5);
  });

  test('an archived payment stays what it was, and a later report is part of it', async () => {
    const { inbox, merchant, sell, pay, deliver } = await newShop(engine, LATER);
    inbox.handle('reversed', () => undefined);
    await sell('ONCE', 'BACK', 'TWICE');
    await deliver(paid('BACK', 500, { transaction_status: 'REVERSED' }, { event: 'transaction.reversed' }));
    await pay('TWICE', 500, { internal_reference: 'SECOND' });
    await merchant.advance(400 * DAY_MS);
    await inbox.prune({ archiveOlderThanDays: 365 });
    // A person must still look at one of them.
    expect(await named(inbox.payments())).toEqual(['TWICE paid']);
    const settled = { amount: '500' };
    expect(await inbox.payment('ONCE')).toMatchObject({ state: 'paid', isArchived: true, settled });
    expect(await inbox.payment('BACK')).toMatchObject({ state: 'reversed', isArchived: true, settled });
    await pay('ONCE', 500, { internal_reference: 'SECOND' });
    const again = { state: 'paid', needs: 'already_settled', isArchived: true, settled };
    expect(await inbox.payment('ONCE')).toMatchObject(again);
    expect((await inbox.payments({ search: 'ONCE' })).items).toMatchObject([again]);
    expect(await inbox.counts()).toMatchObject({ held: 0, paid: 2, needed: 2 });
  });

  test('the version that open pages follow changes with what is expected, and with what is canceled', async () => {
    const { inbox } = await newShop(engine, LATER);
    const first = await versionOf(inbox);
    await inbox.expect(money('ORD-1'));
    const second = await versionOf(inbox);
    const cancel = (await inbox.payment('ORD-1'))?.acts.find(({ name }) => name === 'cancel');
    if (cancel !== undefined) await inbox.act(cancel, NOTE);
    expect(new Set([first, second, await versionOf(inbox)]).size).toBe(3);
    expect(await versionOf(inbox)).toBe(await versionOf(inbox));
  });
});

test('what is canceled while its handler runs is not credited, and waits for a person', async () => {
  const { inbox, merchant, pay, workLater } = await newShop('postgres', LATER, async ({ tx, signed }) => {
    const payment = await inbox.payment(signed.merchant_reference);
    const cancel = payment?.acts.find(({ name }) => name === 'cancel');
    if (cancel !== undefined) await inbox.act(cancel, NOTE);
    await merchant.credit(tx, signed.merchant_reference, '500');
  });
  await inbox.expect(money('ORD-1'));
  await pay('ORD-1');
  await workLater();
  expect(await merchant.credits()).toEqual([]);
  expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'held', needs: 'canceled' });
});

describe.each(ENGINES)('acts on a payment on %s', (engine) => {
  const named = (payment: Payment | undefined, name: Act['name'], amount?: string): Act => {
    const found = payment?.acts.find(
      (act) => act.name === name && (amount ?? act.money?.amount) === act.money?.amount,
    );
    if (found === undefined)
      throw new Error(`${name} is not offered: ${payment?.acts.map((act) => act.name)}.`);
    return found;
  };

  test('one is offered only where it is possible, and refused once the payment has changed', async () => {
    const { inbox, merchant, pay, deliver } = await newShop(engine, LATER);
    await inbox.expect(money('ORD-1', 5000));
    const start = await inbox.payment('ORD-1');
    expect(start?.acts.map(({ name }) => name)).toEqual(['expect', 'cancel', 'forget']);
    await pay('ORD-1', 3000);
    await expect(inbox.act(named(start, 'cancel'), NOTE)).rejects.toMatchObject({ code: 'stale' });
    const held = await inbox.payment('ORD-1');
    expect(held?.acts.map(({ name }) => name)).toEqual(['accept', 'retry', 'close', 'expect', 'forget']);
    const accept = named(held, 'accept', '3000');
    await deliver(paid('ORD-1', 2000));
    await expect(inbox.act(accept, NOTE)).rejects.toMatchObject({ code: 'stale' });
    const again = await inbox.payment('ORD-1');
    const after = await inbox.act(named(again, 'accept', '3000'), NOTE);
    expect(after).toMatchObject({
      state: 'open',
      expected: { amount: '3000' },
      actions: [{ action: 'accept', ...NOTE }],
    });
    await expect(inbox.act({ ...accept, revision: after.revision }, NOTE)).rejects.toMatchObject({
      code: 'invalid_state',
    });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 3000']);
    expect((await inbox.payment('ORD-1'))?.acts.map(({ name }) => name)).toEqual(['applyAgain', 'forget']);
  });

  test('what is canceled is not waited for, and a payment after that waits for a person, who may accept it', async () => {
    const { inbox, merchant, pay } = await newShop(engine, LATER);
    await inbox.expect({ ...money('ORD-1'), deadline: new Date(0) });
    expect(await inbox.counts()).toMatchObject({ overdue: 1 });
    const canceled = await inbox.act(named(await inbox.payment('ORD-1'), 'cancel'), NOTE);
    expect(canceled).toMatchObject({ state: 'canceled', actions: [{ action: 'cancel', ...NOTE }] });
    expect(await inbox.counts()).toMatchObject({ overdue: 0, canceled: 1 });
    await expect(inbox.expect(money('ORD-1'))).rejects.toMatchObject({ code: 'invalid_state' });
    await pay('ORD-1');
    const held = await inbox.payment('ORD-1');
    expect(held).toMatchObject({ state: 'held', needs: 'canceled' });
    expect(await merchant.credits()).toEqual([]);
    // No other amount can be stated, and a check under the same rules credits nothing.
    expect(held?.advice.sentence).toContain('UGX 500 was expected until it was canceled.');
    const offered = held?.acts.map((act) => `${act.name} ${act.money?.amount ?? ''}`.trim());
    expect(offered).toEqual(['apply 500', 'retry', 'close', 'forget']);
    await inbox.act(named(held, 'apply'), NOTE);
    await workOff(inbox);
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'paid', needs: undefined });
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('another amount may be stated, by someone, for a reason', async () => {
    const { inbox, merchant, pay } = await newShop(engine, LATER);
    await pay('ORD-1', 500);
    const unexpected = await inbox.payment('ORD-1');
    expect(unexpected).toMatchObject({ state: 'unexpected', expected: undefined });
    await inbox.act(named(unexpected, 'expect'), { ...NOTE, currency: 'UGX', amount: '500.00' });
    await workOff(inbox);
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'paid', settled: { amount: '500' } });
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('after an outage, all of one reason are retried, but for those that have changed since someone looked', async () => {
    let isBroken = true;
    const options = { retry: { attempts: 1 }, onError: () => undefined };
    const shop = await newShop(engine, options, async (handled) => {
      if (isBroken) throw new Error('The ledger is away.');
      await creditIn(shop.merchant)(handled);
    });
    const { inbox, merchant, sell, deliver } = shop;
    await sell('ORD-1', 'ORD-2', 'ORD-3');
    await deliver(paid('ORD-4', 500));
    await merchant.advance(1000);
    const until = new Date();
    await deliver(paid('ORD-3', 700));
    isBroken = false;
    const which = { reason: 'attempts_used_up', until } as const;
    expect(await inbox.actAll('retry', { ...which, until: new Date(0) }, NOTE)).toEqual({
      done: 0,
      skipped: 0,
    });
    expect(await inbox.actAll('retry', which, NOTE)).toEqual({ done: 2, skipped: 1 });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 500']);
    expect(await inbox.actAll('close', { ...which, reason: 'no_expectation' }, NOTE)).toMatchObject({
      done: 1,
    });
    expect(await inbox.counts()).toMatchObject({ needed: 1, paid: 2, held: 1 });
  });
});

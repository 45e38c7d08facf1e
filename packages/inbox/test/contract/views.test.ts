import { describe, expect, test } from 'vitest';
import type { ListOptions } from '../../src/operator/search.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import {
  ANY_TIME,
  actOnReport,
  creditIn,
  LATER,
  MINUTE_MS,
  money,
  NOTE,
  newShop,
  type Shop,
} from '../support/shop.ts';
import { startWork, statesOf } from '../support/until.ts';

/** The references of a list, each of one letter. */
async function listed({ inbox }: Shop, options?: ListOptions): Promise<string> {
  return (await inbox.reports(options)).map(({ signed }) => signed.merchant_reference).join('');
}

describe.each(ENGINES)('what an operator reads on %s', (engine) => {
  test('list() returns pages, newest first, filtered by state, reason, reference and time of the last change', async () => {
    const shop = await newShop(engine, LATER);
    const { merchant, inbox, pay } = shop;
    await inbox.expect(money('C'));
    await inbox.expect(money('D', 7));
    for (const reference of 'ABCDE') {
      await pay(reference);
      await merchant.advance(MINUTE_MS);
    }
    const since = (await inbox.reports({ merchant_reference: 'B' }))[0]?.changedAt ?? new Date(0);
    const until = new Date(since.getTime() + 1);
    const { transitionId: after } = paid('B', 500);
    const [state, reason] = ['unhandled', 'no_expectation'] as const;
    const filters: [ListOptions, string][] = [
      [{}, 'EDCBA'],
      [{ state: 'settled' }, 'C'],
      [{ reason }, 'EBA'],
      [{ state, reason: 'amount_mismatch' }, ''],
      [{ state: 'quarantined', reason: 'amount_mismatch' }, 'D'],
      [{ state: 'settled', reason: 'amount_mismatch' }, ''],
      [{ merchant_reference: 'C', state: 'settled', since: new Date(0) }, 'C'],
      ...[{ reason }, { state }].flatMap((filter): [ListOptions, string][] => [
        [{ ...filter, limit: 2 }, 'EB'],
        [{ ...filter, after }, 'A'],
        [{ ...filter, after: '0'.repeat(64) }, ''],
      ]),
      [{ state, since }, 'EB'],
      [{ state, since: until }, 'E'],
      [{ until: since }, 'A'],
      [{ since, until, reason }, 'B'],
    ];
    for (const [options, wanted] of filters)
      expect(await listed(shop, options), JSON.stringify(options)).toBe(wanted);
    expect(await inbox.reports({ state: 'quarantined' })).toMatchObject([{ settled: undefined }]);
    expect(await inbox.reports({ state: 'settled' })).toMatchObject([{ settled: { amount: '500' } }]);
    await inbox.route.onCallback(paid('A', 500, { internal_reference: 'INT-2' }));
    const [newest, older] = await inbox.reports({ merchant_reference: 'A' });
    expect([newest?.signed.internal_reference, older?.state]).toEqual(['INT-2', state]);
    const next = { merchant_reference: 'A', after: newest?.transitionId };
    expect(await inbox.reports(next)).toEqual([older]);
    expect(await inbox.reports({ merchant_reference: 'A', state: 'pending' })).toEqual([newest]);
    expect(await inbox.reports({ state: 'pending' })).toEqual([newest]);
  });

  test('list() finds either reference exactly, whatever characters it contains', async () => {
    const { merchant, inbox } = await newShop(engine);
    const json = ['ORD-1","internal_reference":"INT-1', '"merchant_reference":"ORD-1","internal_reference":'];
    const quotes = ['"', '\\', '\\"', '\\","merchant_reference":"ORD-1', "'; drop table credit; --"];
    const others = ['ORD-1', 'ORD-10', 'ord-1', ' ORD-1', 'ORD-1\0', 'ORD-1\\u0000', '\u2028 é é 😀'];
    const hostile = ['$1 %s ? _ %', ...others, ...quotes, ...json];
    const event = 'x","merchant_reference"';
    for (const [index, reference] of hostile.entries()) {
      const one = { merchant_reference: reference, internal_reference: `INT-${index}` };
      await inbox.route.onCallback(callback(one, { event, colonIn: 'merchant_reference' }));
      const other = { merchant_reference: `REF-${index}`, internal_reference: reference };
      await inbox.route.onCallback(callback(other, { event, colonIn: 'internal_reference' }));
    }
    for (const [index, merchant_reference] of hostile.entries()) {
      const both = { merchant_reference, internal_reference: `INT-${index}` };
      for (const by of [{ merchant_reference }, both])
        expect((await inbox.reports(by)).map(({ signed }) => signed)).toMatchObject([both]);
      const internal = await inbox.reports({ internal_reference: merchant_reference });
      expect(internal).toMatchObject([{ signed: { internal_reference: merchant_reference } }]);
      expect(await inbox.reports({ ...both, internal_reference: merchant_reference })).toEqual([]);
    }
    for (const unknown of ['ORD', 'RD-1', '', 'ORD-2', '\ud800'])
      expect(await inbox.reports({ merchant_reference: unknown })).toEqual([]);
    expect(await merchant.open({ account: 'other' }).reports({ merchant_reference: 'ORD-1' })).toEqual([]);
  });

  test('payments past their deadline are overdue, unless a person must look at them anyway', async () => {
    const { merchant, inbox, pay } = await newShop(engine, LATER);
    const deadline = Date.now() + 60 * MINUTE_MS;
    const deadlines = { A: deadline, C: deadline + 2, B: deadline + 1 };
    // If repeated, it gets another deadline.
    for (const [reference, own] of Object.entries(deadlines))
      for (const at of [0, own]) await inbox.expect({ ...money(reference), deadline: new Date(at) });
    await inbox.expect(money('D', '1.50'));
    await pay('A');
    await pay('B', 501);
    await pay('Z');
    await inbox.route.onCallback(paid('Y', 500));
    const overdue = async () =>
      (await inbox.payments({ state: 'overdue' })).items.map(({ merchant_reference, expected }) => ({
        merchant_reference,
        deadline: expected?.deadline,
      }));
    expect(await overdue()).toEqual([]);
    await merchant.advance(61 * MINUTE_MS);
    // B is held, so a person looks at it already.
    const deadlineOfC = new Date(deadlines.C - 61 * MINUTE_MS);
    expect(await overdue()).toEqual([{ merchant_reference: 'C', deadline: deadlineOfC }]);
    expect(await inbox.counts()).toMatchObject({
      overdue: 1,
      paid: 1,
      held: 1,
      open: 1,
      unexpected: 1,
      needed: 2,
    });
    expect(await inbox.health()).toMatchObject({ oldestDueSeconds: expect.closeTo(61 * 60, -2), spooled: 0 });
  });

  test('the tally counts exactly during concurrent deliveries, settlements and acts, with another account and a merge', async () => {
    const { merchant, inbox } = await newShop(engine);
    const [other, second] = [merchant.open({ account: 'other' }), merchant.open()];
    for (const index of Array(8).keys()) await inbox.expect(money(`ORD-${index}`));
    await inbox.route.onCallback(paid('ORD-11', 500));
    const kept = Array.from({ length: 24 }, async (_, index) => {
      const ours = paid(`ORD-${index % 12}`, 500);
      const theirs = paid(`ORD-${index % 12}`, 500, {}, { account: 'other' });
      await Promise.all([
        inbox.route.onCallback(ours),
        second.route.onCallback(ours),
        other.route.onCallback(theirs),
      ]);
    });
    await Promise.all([...kept, inbox.drain(), inbox.drain()]);
    await inbox.drain();
    const tables = { states: merchant.table('transition'), tally: merchant.table('tally') };
    const counted = async (): Promise<Record<string, number>> => {
      const states = await statesOf(inbox);
      const rows = await merchant.query(
        `select state, count(*) as count from ${tables.states} where account = '' group by state`,
      );
      const real = Object.fromEntries(rows.map(({ state, count }) => [String(state), Number(count)]));
      expect(Object.fromEntries(Object.entries(states).filter(([, count]) => count > 0))).toEqual(real);
      return real;
    };
    expect(await counted()).toEqual({ settled: 8, unhandled: 4 });
    expect(await statesOf(other)).toMatchObject({ pending: 12, settled: 0 });
    await actOnReport(inbox, paid('ORD-1', 500).transitionId, 'applyAgain');
    expect(await counted()).toEqual({ pending: 1, settled: 7, unhandled: 4 });
    await inbox.actAll('close', { reason: 'no_expectation', until: ANY_TIME }, NOTE);
    await inbox.drain();
    expect(await counted()).toEqual({ settled: 8, resolved: 4 });
    const rows = await merchant.query(`select total from ${tables.tally} where account = ''`);
    expect(rows.map(({ total }) => Number(total))).toEqual([12]);
  });
});

test('no event holds personal data, a reference or an amount, and an error in either hook changes nothing', async () => {
  const retry = { ...LATER.retry, attempts: 2 };
  const reported: { name: string }[] = [];
  const onEvent = (event: { name: string }): unknown => {
    reported.push(event);
    if (event.name === 'transition.parked') throw new Error('from the hook');
    return event.name === 'transition.settled' ? Promise.reject(new Error('from the hook')) : undefined;
  };
  let problems = 0;
  const onError = (): unknown => {
    problems += 1;
    if (problems === 1) throw new Error('from the hook');
    return Promise.reject(new Error('from the hook'));
  };
  const options = { retry, onEvent, onError };
  const { merchant, inbox, workLater } = await newShop('sqlite', options, async (transition) => {
    if (transition.signed.merchant_reference === 'SECRET-BAD') throw new Error('SECRET-PERSON');
    await creditIn(merchant)(transition);
  });
  for (const merchant_reference of ['SECRET-A', 'SECRET-BAD', 'SECRET-WRONG'])
    await inbox.expect({ merchant_reference, currency: 'XSE', amount: '987654.25' });
  const secret = {
    ...{ request_currency: 'XSE', transaction_currency: 'XSE' },
    ...{ customer_name: 'SECRET-PERSON', transaction_account: '987654321' },
  };
  for (const reference of ['SECRET-A', 'SECRET-BAD', 'SECRET-NONE'])
    await inbox.route.onCallback(paid(reference, 987654.25, secret));
  await inbox.route.onCallback(paid('SECRET-WRONG', 987654321, secret));
  await inbox.route.onAuthenticRefusal(evidence('ambiguous', secret));
  for (let round = 0; round < 2; round += 1) await workLater();
  await startWork(inbox)();
  const dead = { reason: 'attempts_used_up', until: ANY_TIME } as const;
  const who = { by: 'SECRET-PERSON', note: 'SECRET-NOTE' };
  expect(await inbox.actAll('close', dead, who)).toMatchObject({ done: 1 });
  expect(await merchant.credits()).toEqual(['SECRET-A 987654.25']);
  expect(problems).toBe(2);
  expect([...new Set(reported.map(({ name }) => name))].sort()).toEqual([
    ...['callback.received', 'transition.moved', 'transition.parked', 'transition.retrying'],
    ...['transition.settled', 'worker.started', 'worker.stopped'],
  ]);
  expect(JSON.stringify(reported)).not.toMatch(/SECRET|987654|XSE|ORD/);
});

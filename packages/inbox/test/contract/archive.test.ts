import { describe, expect, test } from 'vitest';
import { evidence, paid } from '../support/callbacks.ts';
import { ENGINES, type Merchant } from '../support/merchant.ts';
import {
  actOnReport,
  DAY_MS,
  LATER,
  NOTE,
  newShop,
  ORDER,
  offeredAct,
  REPLACE,
  type Shop,
  watchedInbox,
} from '../support/shop.ts';
import { after } from '../support/store.ts';
import { workOff } from '../support/until.ts';

const YEAR = { archiveOlderThanDays: 365 };
const OLD_MS = 366 * DAY_MS;
const { transitionId, signed } = paid('ORD-1', 500);
/** A callback of the transaction that has paid. */
const same = (transaction_status: string, reference = 'ORD-1') =>
  paid(reference, 500, { transaction_status, internal_reference: 'INT-ORD-1' });
/** A callback of another transaction for the same merchant_reference. */
const other = (transaction_status: string, amount = 500) =>
  paid('ORD-1', amount, { transaction_status, internal_reference: 'INT-OTHER' });
const ONLY_ARCHIVED = { callback: 0, transition: 0, body: 0, delivery: 0, payment: 0, archive: 1 };

async function rowsIn({ query, table }: Merchant): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of Object.keys(ONLY_ARCHIVED))
    counts[name] = Number((await query(`select count(*) as count from ${table(name)}`))[0]?.['count']);
  return counts;
}

/** Runs `act` as if by a program without the archive: the rows that would prevent it are put back afterwards. */
async function withoutArchive({ query, table }: Merchant, act: () => Promise<unknown>): Promise<void> {
  await query(`create table aside as select * from ${table('archive')}`);
  await query(`delete from ${table('archive')}`);
  await act();
  await query(`insert into ${table('archive')} select * from aside`);
}

describe.each(ENGINES)('threat A60: the archive on %s', (engine) => {
  /** A shop whose payment of ORD-1 is old enough. */
  async function newOld(): Promise<Shop> {
    const shop = await newShop(engine, LATER);
    await shop.sell('ORD-1');
    await shop.merchant.advance(OLD_MS);
    return shop;
  }
  async function newArchive(): Promise<Shop> {
    const shop = await newOld();
    expect(await shop.inbox.prune(YEAR)).toEqual({ bodies: 0, archived: 1 });
    return shop;
  }

  test('nothing is archived unless the merchant asks for it, and nothing younger, undecided, decided by an operator or of another account', async () => {
    const { inbox, merchant, pay, sell } = await newOld();
    expect(await inbox.prune()).toEqual({ bodies: 1, archived: 0 });
    expect(await inbox.prune({ archiveOlderThanDays: 367 })).toMatchObject({ archived: 0 });
    expect(await merchant.open({ account: 'other' }).prune(YEAR)).toMatchObject({ archived: 0 });
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 0 });
    // Nor what waits for an operator, was decided by one or was delivered recently.
    for (const reference of ['WAITS', 'CLOSED']) await pay(reference);
    await actOnReport(inbox, paid('CLOSED', 500).transitionId, 'close');
    await sell('REOPENED', 'REPEATED', 'ANOTHER-BODY');
    await actOnReport(inbox, paid('REOPENED', 500).transitionId, 'applyAgain');
    await workOff(inbox);
    await merchant.advance(OLD_MS);
    await pay('REPEATED');
    await pay('ANOTHER-BODY', 900);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 0 });
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 2 });
  });

  test('a repetition is acknowledged and not applied, as long as the archive has its one row (control)', async () => {
    const { merchant, pay, sell } = await newArchive();
    for (let time = 0; time < 3; time += 1) {
      expect(await rowsIn(merchant)).toEqual(ONLY_ARCHIVED);
      await pay('ORD-1');
    }
    const received = merchant.events.findLast(({ name }) => name === 'callback.received');
    expect(received).toMatchObject({ outcome: 'known' });
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    await merchant.query(`delete from ${merchant.table('archive')}`);
    await sell('ORD-1');
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-1 500']);
  });

  test('another body or evidence of an archived payment is kept for an operator, and not applied', async () => {
    const { inbox, merchant, pay } = await newArchive();
    const claim = { merchant_reference: 'ORD-1', internal_reference: 'INT-ORD-1', request_amount: 900 };
    for (const amount of [900, 800, 500]) await pay('ORD-1', amount);
    const [kept, archived] = await inbox.reports({ merchant_reference: 'ORD-1' });
    expect(kept).toMatchObject({ state: 'superseded', reason: 'archived', bodyCount: 3, isArchived: false });
    expect(archived).toMatchObject({ state: 'settled', isArchived: true });
    expect([kept, archived].map((each) => each?.transitionId)).toEqual([transitionId, transitionId]);
    expect(await inbox.reports({ reason: 'archived' })).toHaveLength(1);
    await expect(actOnReport(inbox, transitionId, 'apply')).rejects.toThrow('not possible');
    await merchant.query(`delete from ${merchant.table('callback')}`);
    await inbox.route.onAuthenticRefusal(evidence('timestamp_out_of_tolerance', claim));
    const reason = 'timestamp_out_of_tolerance';
    expect(await inbox.reports({ reason })).toMatchObject([{ state: 'quarantined', isArchived: false }]);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('a FAILED of another transaction does not un-pay an archived payment, and a second payment is a conflict', async () => {
    const { inbox, merchant, deliver } = await newArchive();
    const applied: unknown[] = [];
    inbox.handle('failed', ({ signed }) => applied.push(signed.transaction_status));
    await deliver(other('FAILED'));
    const parked = { state: 'superseded', reason: 'late_status' };
    expect(await inbox.report(other('FAILED').transitionId)).toMatchObject(parked);
    expect(applied).toEqual([]);
    // A second payment is a conflict, even with an expectation that bypassed the archive.
    await withoutArchive(merchant, () => inbox.expect({ ...ORDER, amount: '700' }));
    await deliver(other('COMPLETED', 700));
    expect(await inbox.report(other('COMPLETED').transitionId)).toMatchObject({
      ...{ state: 'conflict', reason: 'already_settled' },
      expectation: { amount: '500', settledBy: transitionId },
    });
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    // Control: without the archive it is applied.
    await merchant.query(`delete from ${merchant.table('archive')}`);
    await actOnReport(inbox, other('FAILED').transitionId, 'apply');
    await workOff(inbox);
    expect(applied).toEqual(['FAILED']);
  });

  test('expect() for an archived payment accepts the same values, and refuses others', async () => {
    const { inbox, merchant } = await newArchive();
    await inbox.expect(ORDER);
    for (const wrong of [{ amount: '501' }, { currency: 'KES' }, { compare: 'request' as const }])
      for (const options of [undefined, REPLACE])
        await expect(inbox.expect({ ...ORDER, ...wrong }, options)).rejects.toThrow('settled with another');
    expect(await rowsIn(merchant)).toMatchObject({ payment: 0 });
    // Another type of the same reference is another payment.
    await inbox.expect({ ...ORDER, transaction_type: 'PAYOUT', amount: '501' });
    expect(await rowsIn(merchant)).toMatchObject({ payment: 1 });
    // Nor does a later status, which has settled no money, hide what was paid.
    const later = merchant.open({ ...LATER, statuses: { REVERSED: 'reversed' } });
    later.handle('reversed', () => undefined);
    await later.route.onCallback(same('REVERSED'));
    await workOff(later);
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    await expect(inbox.expect({ ...ORDER, amount: '501' })).rejects.toThrow('settled with another');
    await inbox.route.onCallback(other('FAILED'));
    const paidAs = { expectation: { amount: '500', settledBy: transitionId } };
    expect(await inbox.report(other('FAILED').transitionId)).toMatchObject(paidAs);
    const row = { ...signed, currency: 'UGX', amount: '500' };
    const period = { ...NOTE, from: new Date(0), to: new Date(0) };
    expect((await inbox.reconcileStatement([row], period)).counts).toMatchObject({ settled: 1 });
    expect(await inbox.payment('ORD-1', 'PAYOUT')).toMatchObject({
      state: 'open',
      expected: { amount: '501' },
    });
    expect(await inbox.payment('ORD-1')).toMatchObject({ settled: { amount: '500', report: transitionId } });
  });

  test('the order of statuses holds across the boundary of the archive', async () => {
    const { merchant } = await newArchive();
    const inbox = merchant.open(LATER);
    const applied: string[] = [];
    for (const name of ['paid', 'failed', 'reversed', 'status'] as const)
      inbox.handle(name, ({ signed }) => applied.push(signed.transaction_status));
    const reasonOf = async (...given: Parameters<typeof same>): Promise<string | undefined> => {
      await inbox.route.onCallback(same(...given));
      await workOff(inbox);
      return (await inbox.report(same(...given).transitionId))?.reason;
    };
    expect(await reasonOf('FAILED', 'ORD-OTHER')).toBe('transition_not_allowed');
    expect(await reasonOf('REVERSED')).toBeUndefined();
    // It ranks above the archived status, which nothing can follow.
    expect(await reasonOf('FAILED')).toBe('transition_not_allowed');
    expect(await reasonOf('PAID_OUT')).toBe('unnamed_after_paid');
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    // Whatever the order in which the archive is read.
    await merchant.query(`update ${merchant.table('archive')} set id = id + 1000 where place = 1`);
    expect(await reasonOf('AGAIN')).toBe('unnamed_after_paid');
    expect(applied).toEqual(['REVERSED']);
  });

  test('list() and show() tell what happened to an archived reference, and no action changes it', async () => {
    const { inbox, merchant } = await newArchive();
    const settled = { currency: 'UGX', amount: '500' };
    const line = { transitionId, state: 'settled', isArchived: true, settled, signed };
    const both = { merchant_reference: 'ORD-1', internal_reference: 'INT-ORD-1' };
    const [merchantReference, internalReference] = Object.entries(both).map((each) =>
      Object.fromEntries([each]),
    );
    const at = { since: new Date(0), until: new Date() };
    for (const by of [merchantReference, internalReference, { ...both, ...at, state: 'settled' as const }])
      expect(await inbox.reports(by)).toMatchObject([line]);
    const [{ changedAt } = { changedAt: new Date(0) }] = await inbox.reports(both);
    expect(await inbox.reports({ ...both, since: changedAt })).toMatchObject([
      { ...line, firstAt: changedAt },
    ]);
    expect(await inbox.reports({ ...both, until: changedAt })).toEqual([]);
    for (const wrong of [
      { state: 'dead' as const },
      { internal_reference: 'INT-2' },
      { after: transitionId },
      { reason: 'late_status' as const },
      { since: new Date() },
      { until: new Date(0) },
    ])
      expect(await inbox.reports({ merchant_reference: 'ORD-1', ...wrong })).toEqual([]);
    expect(await inbox.report(transitionId)).toMatchObject({ ...line, bodies: [], actions: [] });
    for (const act of ['retry', 'close', 'apply', 'applyAgain', 'accept'] as const)
      await expect(actOnReport(inbox, transitionId, act)).rejects.toThrow('not possible');
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'paid', isArchived: true, settled });
    expect(await inbox.counts()).toMatchObject({ archived: 1, paid: 0 });
    // The pages of a reference continue through the archive, newest first.
    for (const status of ['FAILED', 'STARTED']) await inbox.route.onCallback(other(status));
    const all = await inbox.reports({ merchant_reference: 'ORD-1' });
    expect(all.map(({ isArchived }) => isArchived)).toEqual([false, false, true]);
    for (const [index, each] of all.entries()) {
      const after = all[index - 1]?.transitionId;
      expect(await inbox.reports({ merchant_reference: 'ORD-1', limit: 1, after })).toEqual([each]);
    }
    expect(await merchant.open({ account: 'other' }).reports({ merchant_reference: 'ORD-1' })).toEqual([]);
  });

  test('a reference of any form is found again as it was', async () => {
    const { inbox, merchant, deliver } = await newShop(engine, LATER);
    const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const almost = [`${uuid.slice(1)}0`, `0${uuid.slice(0, -1)}`, uuid.replace('f', 'g'), '-'.repeat(36)];
    const longer = [`${uuid} `, `${uuid}\n`, `"${uuid}"`, uuid.replaceAll('-', '')];
    const odd = ['é', '\u2028', '\u0001', '\\x00', 'null', '\ud83d\ude00'];
    const references = [uuid, uuid.toUpperCase(), uuid.replace('f', 'F'), ...almost, ...longer, ...odd];
    const all = references.map((reference) => paid(reference, 500, { internal_reference: reference }));
    inbox.handle('status', () => undefined);
    for (const merchant_reference of references) await inbox.expect({ ...ORDER, merchant_reference });
    await deliver(...all);
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: all.length });
    for (const { transitionId: id, signed: fields } of all) {
      const { merchant_reference, internal_reference } = fields;
      for (const by of [{ merchant_reference }, { internal_reference }])
        expect(await inbox.reports(by)).toMatchObject([
          { transitionId: id, signed: fields, isArchived: true },
        ]);
      expect(await inbox.report(id)).toMatchObject({ signed: fields, isArchived: true });
      await inbox.expect({ ...ORDER, merchant_reference });
      await expect(inbox.expect({ ...ORDER, merchant_reference, amount: '501' })).rejects.toThrow('settled');
      await deliver(paid(merchant_reference, 500, { internal_reference, transaction_status: 'FAILED' }));
      await deliver(paid(merchant_reference, 500));
    }
    await deliver(...all);
    expect(await merchant.credits()).toHaveLength(all.length);
    const states = (await inbox.reports()).map(({ state, reason }) => `${state} ${reason}`);
    expect(new Set(states)).toEqual(
      new Set(['quarantined transition_not_allowed', 'conflict already_settled']),
    );
    expect(states).toHaveLength(2 * all.length);
  });

  test('concurrent prunes archive each transition once, in several batches', async () => {
    const { inbox, merchant } = await newShop(engine, LATER);
    const count = 210;
    await Promise.all(
      Array.from({ length: count }, (_, index) => inbox.route.onCallback(paid(`ORD-${index}`, 500))),
    );
    await merchant.query(`update ${merchant.table('transition')} set state = 'settled', next_at = null`);
    await merchant.advance(OLD_MS);
    const prunes = [inbox, merchant.open(), merchant.open()].map((each) => each.prune(YEAR));
    expect((await Promise.all(prunes)).reduce((sum, { archived }) => sum + archived, 0)).toBe(count);
    expect(await rowsIn(merchant)).toEqual({ ...ONLY_ARCHIVED, archive: count });
    expect(await inbox.counts()).toMatchObject({ archived: count, paid: 0 });
  });

  test('while a transition is being archived, a callback waits and is not applied, and an operator is told that it is archived', async () => {
    const { inbox, merchant } = await newOld();
    let [arrived, refusal]: Promise<unknown>[] = [];
    const again = await offeredAct(inbox, 'ORD-1', 'applyAgain');
    // After the move, and before the commit.
    const isMove = (text: string) => /archive_kind k on k.account/.test(text);
    const moving = after(isMove, async () => {
      // On SQLite they wait for the transaction; on PostgreSQL their first statements read concurrently.
      arrived = inbox.route.onCallback(paid('ORD-1', 500));
      refusal = inbox.act(again, NOTE).catch((error: unknown) => error);
      if (engine === 'postgres') await merchant.query('select pg_sleep(0.1)');
    });
    expect(await watchedInbox(merchant, moving).prune(YEAR)).toMatchObject({ archived: 1 });
    expect(arrived).toBeDefined();
    await arrived;
    expect(await refusal).toMatchObject({ code: 'stale' });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect(await rowsIn(merchant)).toEqual(ONLY_ARCHIVED);
  });
});

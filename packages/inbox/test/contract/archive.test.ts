import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/index.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES } from '../support/merchant.ts';
import { creditIn, DAY_MS, LATER, money, NOTE, newShop, ORDER, REPLACE, type Shop } from '../support/shop.ts';
import { watchedStore } from '../support/store.ts';
import { workOff, workUntil } from '../support/until.ts';

const YEAR = { archiveOlderThanDays: 365 };
const OLD_MS = 366 * DAY_MS;
/** Of another transaction for the same merchant_reference. */
const other = (transaction_status: string) =>
  paid('ORD-1', 500, { transaction_status, internal_reference: 'INT-OTHER' });
/** Of the transaction that has paid. */
const same = (transaction_status: string) => paid('ORD-1', 500, { transaction_status });

describe.each(ENGINES)('threat A60: the archive on %s', (engine) => {
  /** A shop whose payment of ORD-1 is a year old, and moved into the archive. */
  async function newArchive(options: Parameters<typeof newShop>[1] = {}): Promise<Shop> {
    const shop = await newShop(engine, { ...LATER, ...options });
    await shop.inbox.expect(ORDER);
    await shop.pay('ORD-1');
    await shop.merchant.advance(OLD_MS);
    expect(await shop.inbox.prune(YEAR)).toEqual({ bodies: 0, archived: 1 });
    return shop;
  }
  const rowsIn = async ({ merchant }: Shop): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const name of ['callback', 'transition', 'body', 'delivery', 'expectation', 'archive']) {
      const [row] = await merchant.query(`select count(*) as count from ${merchant.table(name)}`);
      counts[name] = Number(row?.['count']);
    }
    return counts;
  };

  test('nothing is archived unless the merchant asks for it, and nothing younger or of another account', async () => {
    const shop = await newShop(engine, LATER);
    await shop.inbox.expect(ORDER);
    await shop.pay('ORD-1');
    await shop.merchant.advance(OLD_MS);
    expect(await shop.inbox.prune()).toEqual({ bodies: 1, archived: 0 });
    expect(await shop.inbox.prune({ archiveOlderThanDays: 367 })).toMatchObject({ archived: 0 });
    expect(await shop.merchant.open({ account: 'other' }).prune(YEAR)).toMatchObject({ archived: 0 });
    expect(await shop.inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    expect(await shop.inbox.prune(YEAR)).toMatchObject({ archived: 0 });
  });

  test('an archived payment leaves one row, and no other', async () => {
    const shop = await newArchive();
    const none = { callback: 0, transition: 0, body: 0, delivery: 0, expectation: 0 };
    expect(await rowsIn(shop)).toEqual({ ...none, archive: 1 });
  });

  test('transitions that wait for a person, were decided by one or were delivered recently are not archived', async () => {
    const shop = await newShop(engine, LATER);
    const { inbox, merchant, pay } = shop;
    await pay('WAITS');
    await pay('CLOSED');
    await inbox.resolve(paid('CLOSED', 500).transitionId, NOTE);
    for (const reference of ['REOPENED', 'REPEATED', 'ANOTHER-BODY']) {
      await inbox.expect(money(reference));
      await pay(reference);
    }
    await inbox.reopen(paid('REOPENED', 500).transitionId, NOTE);
    await workOff(inbox);
    await merchant.advance(OLD_MS);
    await pay('REPEATED');
    await pay('ANOTHER-BODY', 900);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 0 });
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 2 });
  });

  test('a repetition of an archived callback is acknowledged, and not applied again', async () => {
    const shop = await newArchive();
    for (let time = 0; time < 3; time += 1) await shop.pay('ORD-1');
    expect(await shop.merchant.credits()).toEqual(['ORD-1 500']);
    expect(await rowsIn(shop)).toMatchObject({ callback: 0, archive: 1 });
    const { outcome } = shop.merchant.events.findLast(({ name }) => name === 'callback.received') as never;
    expect(outcome).toBe('known');
  });

  test('the repetition is applied again where the archive has forgotten it (control)', async () => {
    const shop = await newArchive();
    await shop.merchant.query(`delete from ${shop.merchant.table('archive')}`);
    await shop.inbox.expect(ORDER);
    await shop.pay('ORD-1');
    expect(await shop.merchant.credits()).toEqual(['ORD-1 500', 'ORD-1 500']);
  });

  test('a callback that was stored although its transition is archived is not applied, and cannot be reopened', async () => {
    const shop = await newArchive();
    const { inbox, merchant } = shop;
    const archive = merchant.table('archive');
    // As a program would keep it that knows no archive: it is there before the row that prevents it.
    await merchant.query(`create table aside as select * from ${archive}`);
    await merchant.query(`delete from ${archive}`);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await merchant.query(`insert into ${archive} select * from aside`);
    await workOff(inbox);
    const { transitionId } = paid('ORD-1', 500);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'superseded', reason: 'archived' });
    await expect(inbox.reopen(transitionId, NOTE)).rejects.toThrow('archived');
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 0 });
  });

  test('the archive is searched for the current references of the row, even if they changed after it was found due', async () => {
    const { merchant, inbox } = await newArchive();
    const [archive, callback] = [merchant.table('archive'), merchant.table('callback')];
    await merchant.query(`create table aside as select * from ${archive}`);
    await merchant.query(`delete from ${archive}`);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await merchant.query(`insert into ${archive} select * from aside`);
    const [{ signed } = { signed: '' }] = await merchant.query(`select signed from ${callback}`);
    const write = (text: string) => merchant.query(`update ${callback} set signed = $1`, [text]);
    // Another program has written other references, and restores them after the look.
    await write(String(signed).replaceAll('ORD-1', 'ORD-2'));
    const store = watchedStore(merchant.newStore(), async (text, run) => {
      const rows = await run();
      if (text.includes('limit 50')) await write(String(signed));
      return rows;
    });
    const worker = merchant.open({ ...LATER, store });
    worker.handle(creditIn(merchant));
    await workUntil(worker, async () => (await inbox.stats()).states.superseded === 1);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('another body of an archived payment is kept for a person, and not applied', async () => {
    const shop = await newArchive();
    const { inbox, merchant, pay } = shop;
    await pay('ORD-1', 900);
    await pay('ORD-1', 800);
    await pay('ORD-1', 500);
    const [kept, archived] = await inbox.list({ merchant_reference: 'ORD-1' });
    expect(kept).toMatchObject({ state: 'superseded', reason: 'archived', bodyCount: 3, isArchived: false });
    expect(archived).toMatchObject({ state: 'settled', isArchived: true });
    expect(kept?.transitionId).toBe(archived?.transitionId);
    expect((await inbox.stats()).reasons).toEqual({ archived: 1 });
    await expect(inbox.reopen(String(kept?.transitionId), NOTE)).rejects.toThrow('archived');
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('evidence of an archived payment that claims something else waits for a person', async () => {
    const { inbox } = await newArchive();
    const claim = { merchant_reference: 'ORD-1', internal_reference: 'INT-ORD-1', request_amount: 900 };
    await inbox.quarantine(evidence('timestamp_out_of_tolerance', claim));
    const reason = 'timestamp_out_of_tolerance';
    expect(await inbox.list({ reason })).toMatchObject([{ state: 'quarantined', isArchived: false }]);
  });

  test.each(['FAILED', 'REVERSED'])(
    'a %s of another transaction does not un-pay an archived payment',
    async (status) => {
      const { inbox, merchant } = await newArchive();
      const applied: string[] = [];
      inbox.handle(({ signed }) => applied.push(signed.transaction_status), { status: '*' });
      await inbox.receive(other(status));
      await workOff(inbox);
      const parked = { state: 'conflict', reason: 'paid_by_another' };
      expect(await inbox.show(other(status).transitionId)).toMatchObject(parked);
      expect(applied).toEqual([]);
      // Control: without the archive it is applied.
      await merchant.query(`delete from ${merchant.table('archive')}`);
      await inbox.retry(other(status).transitionId, NOTE);
      await workOff(inbox);
      expect(applied).toEqual([status]);
    },
  );

  test('a handler that expects what another transaction has paid is told which one, from the archive as well', async () => {
    const { inbox } = await newArchive();
    const asked: unknown[] = [];
    inbox.handle(({ paidBy }) => asked.push(paidBy), { status: 'FAILED', paidByAnother: true });
    await inbox.receive(other('FAILED'));
    await workOff(inbox);
    expect(asked).toEqual([paid('ORD-1', 500).transitionId]);
    expect(await inbox.show(other('FAILED').transitionId)).toMatchObject({ state: 'settled' });
  });

  test('a second payment for an archived one is a conflict, even with an expectation that bypassed the archive', async () => {
    const shop = await newArchive();
    const { inbox, merchant } = shop;
    const archive = merchant.table('archive');
    await merchant.query(`create table aside as select * from ${archive}`);
    await merchant.query(`delete from ${archive}`);
    await inbox.expect({ ...ORDER, amount: '700' });
    await merchant.query(`insert into ${archive} select * from aside`);
    const second = paid('ORD-1', 700, { internal_reference: 'INT-OTHER' });
    await inbox.receive(second);
    await workOff(inbox);
    expect(await inbox.show(second.transitionId)).toMatchObject({
      state: 'conflict',
      reason: 'already_settled',
      expectation: { amount: '500', settledBy: paid('ORD-1', 500).transitionId },
    });
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('expect() for an archived payment accepts the same values, and refuses others', async () => {
    const shop = await newArchive();
    const { inbox } = shop;
    await inbox.expect(ORDER);
    const others = [
      { ...ORDER, amount: '501' },
      { ...ORDER, currency: 'KES' },
      { ...ORDER, compare: 'request' as const },
    ];
    for (const each of others) {
      await expect(inbox.expect(each)).rejects.toThrow('settled with another');
      await expect(inbox.expect(each, REPLACE)).rejects.toThrow('settled with another');
    }
    expect(await rowsIn(shop)).toMatchObject({ expectation: 0 });
    // Another type of the same reference is another payment.
    await inbox.expect({ ...ORDER, transaction_type: 'PAYOUT', amount: '501' });
    expect(await rowsIn(shop)).toMatchObject({ expectation: 1 });
  });

  test('the order of statuses holds across the boundary of the archive', async () => {
    const shop = await newArchive({ allowTransitions: { COMPLETED: ['REVERSED'], REVERSED: [] } });
    const { inbox, merchant } = shop;
    const applied: string[] = [];
    inbox.handle(({ signed }) => applied.push(signed.transaction_status), { status: '*' });
    const stateOf = async (status: string) => (await inbox.show(same(status).transitionId))?.reason;
    await inbox.receive(same('FAILED'));
    await workOff(inbox);
    expect(await stateOf('FAILED')).toBe('transition_not_allowed');
    await inbox.receive(same('REVERSED'));
    await workOff(inbox);
    expect(applied).toEqual(['REVERSED']);
    // Its place is above that of the archived one: nothing follows it.
    await inbox.receive(same('PAID_OUT'));
    await workOff(inbox);
    expect(await stateOf('PAID_OUT')).toBe('transition_not_allowed');
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    await inbox.receive(same('AGAIN'));
    await workOff(inbox);
    expect(await stateOf('AGAIN')).toBe('transition_not_allowed');
    expect(applied).toEqual(['REVERSED']);
  });

  test('list() and show() tell what happened to an archived reference, and no action changes it', async () => {
    const { inbox } = await newArchive();
    const { transitionId } = paid('ORD-1', 500);
    const line = {
      transitionId,
      state: 'settled',
      isArchived: true,
      settled: { currency: 'UGX', amount: '500' },
      signed: paid('ORD-1', 500).signed,
    };
    const state = 'settled';
    for (const by of [
      { merchant_reference: 'ORD-1' },
      { internal_reference: 'INT-ORD-1' },
      { merchant_reference: 'ORD-1', internal_reference: 'INT-ORD-1', state } as const,
    ])
      expect(await inbox.list(by)).toMatchObject([line]);
    expect(await inbox.list({ merchant_reference: 'ORD-1', state: 'dead' })).toEqual([]);
    expect(await inbox.list({ merchant_reference: 'ORD-1', internal_reference: 'INT-2' })).toEqual([]);
    expect(await inbox.list({ merchant_reference: 'ORD-1', after: transitionId })).toEqual([]);
    expect(await inbox.show(transitionId)).toMatchObject({ ...line, bodies: [], actions: [] });
    for (const move of ['retry', 'resolve', 'reopen'] as const)
      await expect(inbox[move](transitionId, NOTE)).rejects.toThrow(/is archived/);
    expect(await inbox.stats()).toMatchObject({ archived: 1, states: { settled: 0 } });
  });

  test('the pages of a reference continue through the archive, newest first', async () => {
    const { inbox, merchant } = await newArchive();
    await inbox.receive(other('FAILED'));
    await inbox.receive(other('STARTED'));
    const all = await inbox.list({ merchant_reference: 'ORD-1' });
    expect(all.map(({ isArchived }) => isArchived)).toEqual([false, false, true]);
    const pages = [];
    for (let after: string | undefined; ; ) {
      const [line] = await inbox.list({ merchant_reference: 'ORD-1', limit: 1, after });
      if (line === undefined) break;
      pages.push(line);
      after = line.transitionId;
    }
    expect(pages).toEqual(all);
    expect(await merchant.open({ account: 'other' }).list({ merchant_reference: 'ORD-1' })).toEqual([]);
  });

  test('a reference with a NUL, quotes and other letters is found in the archive', async () => {
    const { inbox, merchant } = await newShop(engine, LATER);
    const internal_reference = '","internal_reference":"a"b\\c\0d\u00e9\u2028\ud83d\ude00';
    inbox.handle(() => undefined, { status: 'FAILED' });
    const failed = paid(
      'O"1\\',
      500,
      { internal_reference, transaction_status: 'FAILED' },
      { colonIn: 'internal_reference' },
    );
    await inbox.receive(failed);
    await workOff(inbox);
    await merchant.advance(OLD_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    const { transitionId, signed } = failed;
    const line = { transitionId, signed, settled: undefined };
    expect(await inbox.list({ internal_reference })).toMatchObject([line]);
    expect(await inbox.list({ merchant_reference: 'O"1\\' })).toMatchObject([line]);
    await inbox.receive(failed);
    expect(await inbox.list()).toEqual([]);
  });

  test('concurrent prunes archive each transition once, in several batches', async () => {
    const shop = await newShop(engine, LATER);
    const { inbox, merchant } = shop;
    const references = Array.from({ length: 450 }, (_, index) => `ORD-${index}`);
    inbox.handle(() => undefined, { status: 'FAILED' });
    const failed = references.map((reference) => paid(reference, 500, { transaction_status: 'FAILED' }));
    await Promise.all(failed.map((each) => inbox.receive(each)));
    await workOff(inbox);
    await merchant.advance(OLD_MS);
    const results = await Promise.all(
      [inbox, merchant.open(), merchant.open()].map((each) => each.prune(YEAR)),
    );
    expect(results.reduce((sum, { archived }) => sum + archived, 0)).toBe(references.length);
    expect(await rowsIn(shop)).toMatchObject({ callback: 0, transition: 0, body: 0, archive: 450 });
    const [distinct] = await merchant.query(
      `select count(distinct transition) as count from ${merchant.table('archive')}`,
    );
    expect(Number(distinct?.['count'])).toBe(references.length);
    expect(await inbox.stats()).toMatchObject({ archived: 450, states: { settled: 0 } });
  });

  /** A shop whose payment of ORD-1 is old enough, and not moved yet. */
  async function newOldShop(): Promise<Shop> {
    const shop = await newShop(engine, LATER);
    await shop.inbox.expect(ORDER);
    await shop.pay('ORD-1');
    await shop.merchant.advance(OLD_MS);
    return shop;
  }
  const ONLY_ARCHIVED = { callback: 0, transition: 0, body: 0, delivery: 0, expectation: 0, archive: 1 };

  test('a callback that arrives while its transition is being archived is acknowledged afterwards, and not applied', async () => {
    const shop = await newOldShop();
    const { inbox, merchant } = shop;
    let arrived: Promise<void> | undefined;
    const store = interrupted(merchant.newStore(), async () => {
      // On SQLite it waits for the transaction; on PostgreSQL its first statement reads beside it.
      arrived = inbox.receive(paid('ORD-1', 500));
      if (engine === 'postgres') await merchant.query('select pg_sleep(0.1)');
    });
    expect(await merchant.open({ store }).prune(YEAR)).toMatchObject({ archived: 1 });
    expect(arrived).toBeDefined();
    await arrived;
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect(await rowsIn(shop)).toEqual(ONLY_ARCHIVED);
  });

  test('a callback whose transition is archived between two statements of its receiver is acknowledged, and not applied', async () => {
    const shop = await newOldShop();
    const { inbox, merchant } = shop;
    let pruned: unknown;
    const store = watchedStore(merchant.newStore(), async (text, run) => {
      const rows = await run();
      // It has found the callback among the known ones.
      if (/insert into \S+callback/.test(text) && rows.length === 0) pruned ??= await inbox.prune(YEAR);
      return rows;
    });
    const receiver = merchant.open({ store });
    await receiver.ready();
    pruned = undefined;
    await receiver.receive(paid('ORD-1', 500));
    expect(pruned).toMatchObject({ archived: 1 });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect(await rowsIn(shop)).toEqual(ONLY_ARCHIVED);
  });

  test('an operator who reopens a transition while it is being archived is told that it is archived', async () => {
    const shop = await newOldShop();
    const { inbox, merchant } = shop;
    let refusal: Promise<unknown> | undefined;
    const store = interrupted(merchant.newStore(), async () => {
      refusal = inbox.reopen(paid('ORD-1', 500).transitionId, NOTE).catch((error: unknown) => error);
    });
    expect(await merchant.open({ store }).prune(YEAR)).toMatchObject({ archived: 1 });
    expect(await refusal).toMatchObject({ code: 'invalid_state' });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    // The control: before it is moved, reopening applies it once more.
    const open = await newOldShop();
    await open.inbox.reopen(paid('ORD-1', 500).transitionId, NOTE);
    await workOff(open.inbox);
    expect(await open.merchant.credits()).toEqual(['ORD-1 500', 'ORD-1 500']);
  });
});

/** Calls `act` in the transaction that moves a transition, after the move and before the commit. */
function interrupted(store: Store<AnyTransaction>, act: () => Promise<void>): Store<AnyTransaction> {
  return watchedStore(store, async (text, run) => {
    const rows = await run();
    if (/archive_kind k on k.account/.test(text)) await act();
    return rows;
  });
}

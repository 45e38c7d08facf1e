import { describe, expect, test } from 'vitest';
import type { HandledTransition, Inbox, InboxOptions } from '../../src/index.ts';
import { settingsOf } from '../../src/options.ts';
import { Statements } from '../../src/store/statements.ts';
import { attempt } from '../../src/work/attempt/attempt.ts';
import { addHandler, type Handlers } from '../../src/work/attempt/handlers.ts';
import { dueIn } from '../../src/work/attempt/turn.ts';
import { paid } from '../support/callbacks.ts';
import {
  type AnyTransaction,
  ENGINES,
  type EngineName,
  type Merchant,
  newMerchant,
} from '../support/merchant.ts';
import { creditIn, LATER, newShop, order } from '../support/shop.ts';
import { watchedStore } from '../support/store.ts';
import { startWork, until, workUntilSettled } from '../support/until.ts';

type AnyInbox = Inbox<AnyTransaction>;

/** What of the two transitions counts a crash: state, attempts, unfinished. */
async function counts(merchant: Merchant): Promise<string[]> {
  const rows = await merchant.query(
    `select state, attempts, unfinished from ${merchant.table('transition')} order by id`,
  );
  return rows.map(({ state, attempts, unfinished }) => `${state} ${attempts} ${unfinished}`);
}

function isSettlement(text: string): boolean {
  return text.includes("set state = 'settled'");
}

/** A worker of one lane with two transitions that are due, and a test around the statement that settles. */
async function newPair(
  engine: EngineName,
  watch: (
    run: () => ReturnType<Statements<unknown>['run']>,
    inbox: AnyInbox,
  ) => ReturnType<Statements<unknown>['run']>,
  options: Partial<InboxOptions<AnyTransaction>> = {},
): Promise<{ merchant: Merchant; inbox: AnyInbox }> {
  const merchant = await newMerchant(engine);
  const store = watchedStore(merchant.newStore(), (text, run) =>
    isSettlement(text) ? watch(run, inbox) : run(),
  );
  const inbox: AnyInbox = merchant.open({ ...LATER, ...options, store });
  inbox.handle(creditIn(merchant));
  await order(inbox, 'ORD-1', 'ORD-2');
  return { merchant, inbox };
}

describe.each(ENGINES)('the start that is committed with the settlement before it, on %s', (engine) => {
  test.each([
    ['after it counts as a crash of the next one, once', undefined, ['settled 1 0', 'pending 1 1'], true],
    ['in the handler before it does not (control)', 'fails', ['retrying 1 0', 'pending 0 0'], false],
  ] as const)('a process that ends %s', async (_, failure, expected, isBegun) => {
    const merchant = await newMerchant(engine);
    const store = merchant.newStore();
    const inbox = merchant.open({ store });
    await order(inbox, 'ORD-1', 'ORD-2');
    const statements = new Statements(store);
    const handlers: Handlers<AnyTransaction> = new Map();
    addHandler(handlers, async (transition: HandledTransition<AnyTransaction>) => {
      await creditIn(merchant)(transition);
      if (failure !== undefined) throw new Error(failure);
    });
    const settings = settingsOf({ ...{ store, random: () => 1, onError: () => undefined }, ...LATER });
    const context = { store, statements, settings, handlers, signal: new AbortController().signal };
    const [first, next] = (await statements.run('find_due', ['', -1, 0])).map(dueIn);
    if (first === undefined) throw new Error('Nothing is due.');
    // What comes after it is left out, as by a process that has ended.
    const { begun } = await attempt(first, context, { takeNext: () => next });
    expect(begun !== undefined).toBe(isBegun);
    expect(await counts(merchant)).toEqual(expected);
    inbox.handle(creditIn(merchant));
    await merchant.advance(120_000);
    await workUntilSettled(inbox, 2);
    expect(await counts(merchant)).toEqual(
      isBegun ? ['settled 1 0', 'settled 2 0'] : ['settled 2 0', 'settled 1 0'],
    );
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 500']);
  });

  test.each([
    ['after the commit', true],
    ['before it', false],
  ])('threat A51: is taken back when the answer of the settlement is lost %s', async (_, isCommitted) => {
    let isLost = false;
    const { merchant, inbox } = await newPair(engine, async (run) => {
      if (isLost) return run();
      isLost = true;
      if (isCommitted) await run();
      throw Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
    });
    const stop = startWork(inbox, { concurrency: 1 });
    await until(async () => (await counts(merchant))[1] === 'settled 1 0');
    await stop();
    await merchant.advance(120_000);
    await workUntilSettled(inbox, 2);
    expect(await counts(merchant)).toEqual([isCommitted ? 'settled 1 0' : 'settled 2 0', 'settled 1 0']);
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 500']);
  });

  test('is undone when the worker is stopped meanwhile, and the payment is due as before', async () => {
    let stop: (() => Promise<void>) | undefined;
    let stopped: Promise<void> | undefined;
    const { merchant, inbox } = await newPair(engine, async (run) => {
      const rows = await run();
      stopped ??= stop?.();
      return rows;
    });
    stop = startWork(inbox, { concurrency: 1 });
    await until(() => stopped !== undefined);
    await stopped;
    expect(await counts(merchant)).toEqual(['settled 1 0', 'pending 0 0']);
    expect(await inbox.drain()).toEqual({ settled: 1, parked: 0, retrying: 0, left: 0 });
    expect(await counts(merchant)).toEqual(['settled 1 0', 'settled 1 0']);
  });

  test('is not written beyond the limit of drain()', async () => {
    const { merchant, inbox } = await newShop(engine);
    await order(inbox, 'ORD-1', 'ORD-2');
    expect(await inbox.drain({ limit: 1 })).toMatchObject({ settled: 1, left: 1 });
    expect(await counts(merchant)).toEqual(['settled 1 0', 'pending 0 0']);
  });

  test('skips a transition whose handler may have ended its process: that one runs alone', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open(LATER);
    const references = ['ORD-1', 'ORD-2', 'SUSPECT', 'ORD-3', 'ORD-4'];
    await order(inbox, ...references);
    const [table, callback] = [merchant.table('transition'), merchant.table('callback')];
    await merchant.query(
      `update ${table} set unfinished = 1 where id = (select id from ${callback} where transition_id = $1)`,
      [paid('SUSPECT', 500).transitionId],
    );
    const beside = new Map<string, unknown>();
    inbox.handle(async (transition) => {
      const rows = await merchant.query(`select count(*) as n from ${table} where unfinished > 0`);
      beside.set(transition.signed.merchant_reference, Number(rows[0]?.['n']));
      await creditIn(merchant)(transition);
    });
    await workUntilSettled(inbox, references.length, { concurrency: engine === 'sqlite' ? 1 : 2 });
    expect(beside.get('SUSPECT')).toBe(1);
    expect(await merchant.credits()).toHaveLength(references.length);
  });
});

const ROW = 'select id from TRANSITION where id = $1 for update';
const REFERENCE =
  "select pg_advisory_xact_lock(hashtextextended('SCHEMA' || subject_key, 0)) from CALLBACK where id = $1";

describe('a settlement on postgres', () => {
  test.each([
    ['commits without waiting for the row of the next transition', ROW, 1, 'settled 1 0'],
    [
      'commits without waiting for the internal_reference of the next transition',
      REFERENCE,
      1,
      'settled 1 0',
    ],
    ['waits for its own row (control)', ROW, 0, 'retrying 1 0'],
  ] as const)('%s while another transaction has it', async (_, lock, locked, expected) => {
    let isOver = false;
    const { merchant, inbox } = await newPair(
      'postgres',
      async (run) => {
        if (isOver) return run();
        isOver = true;
        const table = merchant.table('transition');
        const text = lock
          .replace('TRANSITION', table)
          .replace('CALLBACK', merchant.table('callback'))
          .replace('SCHEMA', table.replace('transition', ''));
        const rows = await merchant.query(`select id from ${table} order by id`);
        return merchant.transaction(async (tx) => {
          await tx.query(text, [String(rows[locked]?.['id'])]);
          const settled = await run();
          expect(await counts(merchant)).toEqual([expected, 'pending 0 0']);
          return settled;
        });
      },
      { handlerLockTimeoutMs: 200 },
    );
    const stop = startWork(inbox, { concurrency: 1 });
    await until(async () => (await counts(merchant))[1] === 'settled 1 0');
    await stop();
    expect(await counts(merchant)).toEqual([expected, 'settled 1 0']);
  });
});

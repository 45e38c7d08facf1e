import { describe, expect, test } from 'vitest';
import type { Inbox } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import {
  creditIn,
  LATER,
  MINUTE_MS,
  NOTE,
  newDueShop,
  newShop,
  ORDER,
  offeredAct,
  shopOf,
} from '../support/shop.ts';
import { pause, signal, startWork, statesOf, until, workUntilSettled } from '../support/until.ts';

const WRONG = 'insert into no_such_table values (1)';

/** What a handler does after it has ended its transaction. */
const CONTINUATIONS: Readonly<Record<string, (tx: AnyTransaction, merchant: Merchant) => unknown>> = {
  returns: () => undefined,
  throws: () => Promise.reject(new Error('after its end')),
  writes: (tx, merchant) => merchant.credit(tx, 'later', '1'),
  'hides an error': (tx, merchant) => merchant.credit(tx, 'later', '1').catch(() => undefined),
  'fails a statement': (tx) => tx.query(WRONG),
  'does not return': () => new Promise(() => undefined),
};
const WAYS = Object.keys(CONTINUATIONS);

describe.each(ENGINES)('the transaction of a handler on %s', (engine) => {
  test('threat A50: a handler that commits, rolls back or begins another transaction is dead whatever it does then, and is not run again', async () => {
    const merchant = await newMerchant(engine);
    const { inbox, sell, workLater } = shopOf(merchant, { ...LATER, handlerTimeoutMs: 1000 });
    inbox.handle('paid', async (transition) => {
      await creditIn(merchant)(transition);
      const [words = '', way = ''] = transition.signed.merchant_reference.split(', ');
      for (const word of words.split(' ')) await transition.tx.query(word);
      await CONTINUATIONS[way]?.(transition.tx, merchant);
    });
    const all = ['commit', 'rollback', 'commit begin'].flatMap((words) =>
      WAYS.map((way) => `${words}, ${way}`),
    );
    await sell(...all);
    await workLater(60 * MINUTE_MS);
    const lastError = expect.stringMatching(/^TransactionEnded: .* by the handler that runs in it/);
    const dead = { state: 'dead', reason: 'transaction_ended', attempts: 1, lastError };
    expect(await inbox.reports()).toMatchObject(all.map(() => dead));
    const credits = await merchant.credits();
    const committed = all.filter((one) => one.startsWith('commit')).map((one) => `${one} 500`);
    expect(credits.filter((credit) => credit !== 'later 1')).toEqual(committed.sort());
    // PostgreSQL commits what a handler writes between transactions, once.
    expect(credits.length - committed.length).toBeLessThanOrEqual(6);
    // Neither the connection nor the next transaction is affected.
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(credits.length + 1);
  });

  test('a failed statement or commit makes the attempt fail, even if the handler hides the error', async () => {
    const { merchant, inbox, workLater } = await newDueShop(engine, LATER);
    await merchant.deferredChild();
    const next: unknown[] = [];
    inbox.handle('paid', async (transition) => {
      const { tx, attempt } = transition;
      await creditIn(merchant)(transition);
      if (attempt === 1) await tx.query(WRONG);
      if (attempt === 2) await tx.query('insert into child values (1)');
      if (attempt !== 3) return;
      await tx.query(WRONG).catch(() => undefined);
      next.push(await tx.query('select 1').catch(() => 'refused'));
    });
    for (const lastError of [/no_such_table/, /foreign key/i, /./]) {
      await workLater(4 * MINUTE_MS);
      const failed = { state: 'retrying', lastError: expect.stringMatching(lastError) };
      expect(await inbox.reports()).toMatchObject([failed]);
    }
    expect(next).toEqual(['refused']);
    expect(await merchant.credits()).toEqual([]);
    await workLater(8 * MINUTE_MS);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

describe.each(ENGINES)('transaction() on %s', (engine) => {
  test('commits an order and its expectation together, wakes the worker, and resolves with the result of the body', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    // Without the program calling ready().
    expect(await inbox.transaction(async () => 7)).toBe(7);
    await inbox.route.onCallback(paid('ORD-1', 500));
    const stop = startWork(inbox, { pollMs: 3_600_000 });
    await until(async () => (await statesOf(inbox)).unhandled === 1);
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      // What is not committed is not visible elsewhere.
      expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'unexpected', needs: 'no_expectation' });
      expect(await merchant.credits()).toEqual([]);
      const found = await tx.query('select 1 as one from credit');
      expect(found).toMatchObject({ rows: [{ one: 1 }], rowCount: 1 });
    });
    await until(async () => (await merchant.credits()).length === 2);
    await stop();
  });

  test('keeps nothing when its body throws, a statement fails, even if that is hidden, or the commit fails', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await merchant.deferredChild();
    const hide = (): undefined => undefined;
    const fail = (error: unknown) => () => Promise.reject(error);
    const own = new Error('no such customer');
    const says = (text: RegExp) => expect.objectContaining({ message: expect.stringMatching(text) });
    const ways: readonly (readonly [(tx: AnyTransaction) => unknown, unknown])[] = [
      ...[own, 'no', undefined].map((error) => [fail(error), error] as const),
      [(tx) => tx.query(WRONG), says(/no_such_table/)],
      [(tx) => tx.query(WRONG).catch(hide), says(/transaction/)],
      [(tx) => tx.query('insert into child values (1)'), says(/foreign key/i)],
    ];
    for (const [then, reason] of ways) {
      const failed = inbox.transaction(async (tx) => {
        await merchant.credit(tx, 'order', '500');
        await inbox.expect(ORDER, { tx });
        await then(tx);
      });
      expect(await Promise.allSettled([failed])).toEqual([{ status: 'rejected', reason }]);
      expect(await merchant.credits()).toEqual([]);
    }
    // There is no expectation; without a failure, the same transaction is committed (control).
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '700');
      await inbox.expect({ ...ORDER, amount: '501' }, { tx });
    });
    expect(await merchant.credits()).toEqual(['order 700']);
  });

  test('ends before close() resolves, which starts no other and releases the database', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.ready();
    const [isRunning, mayEnd] = [signal(), signal()];
    const committed = inbox.transaction(async (tx) => {
      isRunning.give();
      await mayEnd.promise;
      await merchant.credit(tx, 'order', '500');
    });
    await isRunning.promise;
    const closed = Promise.all([inbox.close(), inbox.close()]);
    await pause(20);
    mayEnd.give();
    await closed;
    expect(await merchant.credits()).toHaveLength(1);
    await committed;
    await inbox.close();
    for (const call of [() => inbox.transaction(async () => 1), () => inbox.reports()])
      await expect(call()).rejects.toMatchObject({ code: 'closed' });
    await merchant.query(`drop table ${merchant.table('action')}`);
  });
});

test('await using closes an inbox at the end of its block, and its signal ends health()', async () => {
  const merchant = await newMerchant('sqlite');
  const ended = async (): Promise<Inbox<AnyTransaction>> => {
    await using inbox = merchant.open();
    await inbox.expect(ORDER);
    const reason = new Error('the probe waits no longer');
    await expect(inbox.health({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const probing = new AbortController();
    const probe = inbox.health({ signal: probing.signal });
    probing.abort(reason);
    await expect(probe).rejects.toBe(reason);
    expect(await inbox.health({ signal: new AbortController().signal })).toMatchObject({ ok: true });
    return inbox;
  };
  await expect((await ended()).payment('ORD-1001')).rejects.toThrow('This inbox is closed.');
});

// SQLite has one writer.
test('on sqlite, a call that would wait for the transaction around it is refused, without other effects', async () => {
  const { merchant, inbox } = await newDueShop('sqlite', LATER);
  const refused: unknown[] = [];
  const forget = await offeredAct(inbox, 'ORD-1', 'forget');
  const callAll = async (): Promise<void> => {
    const calls: (() => Promise<unknown>)[] = [
      () => inbox.expect({ ...ORDER, merchant_reference: 'ORD-2' }),
      () => inbox.transaction(async () => 1),
      () => inbox.act(forget, NOTE),
      () => inbox.forget('ORD-1', NOTE),
      () => inbox.prune(),
    ];
    for (const call of calls) refused.push(await call().catch((error: unknown) => error));
  };
  await inbox.transaction(async (tx) => {
    await callAll();
    await merchant.credit(tx, 'own', '1');
  });
  inbox.handle('paid', async (transition) => {
    await callAll();
    await creditIn(merchant)(transition);
  });
  await workUntilSettled(inbox, 1);
  expect(refused).toHaveLength(10);
  for (const error of refused) expect(error).toMatchObject({ name: 'ConfigurationError', option: 'tx' });
  expect(await merchant.credits()).toEqual(['ORD-1 500', 'own 1']);
});

test('on sqlite, a statement that rolls back the transaction makes it fail, although its body continues', async () => {
  const { merchant, inbox } = await newShop('sqlite');
  await merchant.query('create table once (id integer primary key)');
  await merchant.query('insert into once values (1)');
  const failed = inbox.transaction(async (tx) => {
    await tx.query('insert or rollback into once values (1)').catch(() => undefined);
    await merchant.credit(tx, 'after', '1').catch(() => undefined);
  });
  await expect(failed).rejects.toThrow(/rolled back|was ended/);
  const tx = await inbox.transaction(async (given) => given);
  // No statement runs after its end either.
  await expect(merchant.credit(tx, 'late', '1')).rejects.toMatchObject({ option: 'tx' });
  expect(await merchant.credits()).toEqual([]);
});

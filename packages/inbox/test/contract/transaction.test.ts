import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newShop, ORDER } from '../support/shop.ts';
import { pause, signal, until } from '../support/until.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('transaction() on %s', (engine) => {
  it('commits an order and its expectation together, and gives what the body gives', async () => {
    const { merchant, inbox } = await newShop(engine);
    const given = await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      const { rows, rowCount } = await tx.query('select reference from credit');
      return { rows, rowCount };
    });
    expect(given).toEqual({ rows: [{ reference: 'order' }], rowCount: 1 });
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([
      { reference: 'ORD-1', amount: '500' },
      { reference: 'order', amount: '500' },
    ]);
  });

  it('waits for ready() by itself, and takes a body that is no promise', async () => {
    const merchant = await newMerchant(engine);
    expect(await merchant.open().transaction(() => 7)).toBe(7);
  });

  it('wakes the worker for what it expects', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, pollMs: 1_000_000 });
    await until(async () => (await inbox.stats()).states.unhandled === 1);
    await inbox.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      await pause(100);
    });
    await until(async () => (await merchant.credits()).length === 1);
    stop.abort();
    await working;
  });

  it.each([
    ['an error of the merchant', new Error('no such customer')],
    ['a value that is no error', 'no'],
    ['nothing', undefined],
  ])('rolls back when the body throws, and throws %s on', async (_name, thrown) => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      throw thrown;
    });
    expect(await failed.then(() => 'committed', same)).toBe(thrown);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('throws the error of an expectation that is refused, and the order goes with it', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '700');
      await inbox.expect({ ...ORDER, amount: '700' }, { tx });
    });
    await expect(failed).rejects.toMatchObject({ code: 'invalid_state' });
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('throws what only the commit refuses, and keeps nothing', async () => {
    const { merchant, inbox } = await newShop(engine);
    await merchant.query('create table parent (id integer primary key)');
    await merchant.query(
      'create table child (id integer references parent (id) deferrable initially deferred)',
    );
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await tx.query('insert into child values (1)');
    });
    await expect(failed).rejects.toThrow(/foreign key/i);
    expect(await merchant.credits()).toEqual([]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('close() waits for it, and lets none begin', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.ready();
    const [isRunning, mayEnd] = [signal(), signal()];
    const committed = inbox.transaction(async (tx) => {
      isRunning.give();
      await mayEnd.promise;
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
    });
    await isRunning.promise;
    const closed = inbox.close();
    await pause(20);
    mayEnd.give();
    await closed;
    await committed;
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.transaction(() => 1)).rejects.toThrow(/closed/);
  });

  it('takes a function and nothing else', async () => {
    const { inbox } = await newShop(engine);
    const call = Reflect.apply(inbox.transaction, undefined, ['insert …']);
    await expect(call).rejects.toMatchObject({ option: 'body' });
  });

  it('expect() with a tx before ready() is refused at once, and says what to call', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const refused = merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(/ready\(\)/);
    await inbox.ready();
    await merchant.transaction((tx) => inbox.expect(ORDER, { tx }));
    await inbox.receive(paid('ORD-1', 500));
    inbox.handle(() => undefined);
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });
});

const same = (error: unknown): unknown => error;

import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { LATER, money, newShop, ORDER } from '../support/shop.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const same = (error: unknown): unknown => error;

describe.each(ENGINES)('transaction() on %s', (engine) => {
  it('commits an order and its expectation together, wakes the worker, and gives what the body gives', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.receive(paid('ORD-1', 500));
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, pollMs: 3_600_000 });
    await until(async () => (await inbox.stats()).states.unhandled === 1);
    const given = await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      // Nobody else sees what is not committed.
      expect(await inbox.stats()).toMatchObject({ reasons: { no_expectation: 1 }, oldestDueSeconds: 0 });
      expect(await merchant.credits()).toEqual([]);
      const { rows, rowCount } = await tx.query('select reference from credit');
      return { rows, rowCount };
    });
    expect(given).toEqual({ rows: [{ reference: 'order' }], rowCount: 1 });
    await until(async () => (await merchant.credits()).length === 2);
    stop.abort();
    await working;
  });

  it('waits for ready() by itself, and takes a function and nothing else', async () => {
    const inbox = (await newMerchant(engine)).open();
    expect(await inbox.transaction(async () => 7)).toBe(7);
    const call = Reflect.apply(inbox.transaction, undefined, ['insert …']);
    await expect(call).rejects.toMatchObject({ option: 'body' });
  });

  it('rolls back when the body throws, whatever it throws, and throws it on', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await inbox.receive(paid('ORD-1', 500));
    for (const thrown of [new Error('no such customer'), 'no', undefined]) {
      const failed = inbox.transaction(async (tx) => {
        await merchant.credit(tx, 'order', '500');
        await inbox.expect(ORDER, { tx });
        throw thrown;
      });
      expect(await failed.then(() => 'committed', same)).toBe(thrown);
    }
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation' }]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('keeps nothing of a statement that fails, of an expectation that is refused, or of a commit that fails', async () => {
    const { merchant, inbox } = await newShop(engine);
    await merchant.deferredChild();
    await inbox.expect(ORDER);
    const order = (then: Parameters<typeof inbox.transaction>[0]): Promise<unknown> =>
      inbox.transaction(async (tx) => {
        await merchant.credit(tx, 'order', '700');
        await then(tx);
      });
    await expect(order((tx) => tx.query('insert into no_such_table values (1)'))).rejects.toThrow(
      /no_such_table/,
    );
    const refused = order((tx) => inbox.expect({ ...ORDER, amount: '700' }, { tx }));
    await expect(refused).rejects.toMatchObject({ code: 'invalid_state' });
    await expect(order((tx) => tx.query('insert into child values (1)'))).rejects.toThrow(/foreign key/i);
    expect(await merchant.credits()).toEqual([]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('takes its turn with handlers, callbacks and others of its kind', async () => {
    const { merchant, inbox } = await newShop(engine);
    const references = Array.from({ length: 20 }, (_, index) => `ORD-${index}`);
    const stop = startWork(inbox);
    await Promise.all(
      references.map(async (reference) => {
        await inbox.transaction(async (tx) => {
          await merchant.credit(tx, `order of ${reference}`, '500');
          await inbox.expect(money(reference), { tx });
        });
        await inbox.receive(paid(reference, 500));
      }),
    );
    await until(async () => (await inbox.stats()).states.settled === 20);
    await stop();
    expect(await merchant.credits()).toHaveLength(40);
  });

  it('close() waits for it, and lets none begin', async () => {
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
    await committed;
    await inbox.close();
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.transaction(async () => 1)).rejects.toThrow(/closed/);
  });
});

/** The inbox in the transactions of the merchant's own library: one suite for all of them, on a real PostgreSQL. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forEachLibrary, type Open } from './libraries/for-each-library.ts';
import { areSettled, expected, openShop, paid, type Shop, signal, workUntil } from './shop.ts';

forEachLibrary(<Tx>(name: string, open: Open<Tx>) => {
  describe(`with ${name}`, () => {
    let shop: Shop<Tx>;
    beforeAll(async () => {
      shop = await openShop(name, open);
    });
    afterAll(() => shop.close());

    test('a handler that writes, reads back and throws on its first run credits once', async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      const seen: (readonly string[])[] = [];
      inbox.handle(async ({ tx, signed, settled, attempt }) => {
        const credits = library.credits(tx);
        await credits.add(signed.merchant_reference, settled.amount);
        seen.push(await credits.amounts(signed.merchant_reference));
        if (attempt === 1) throw new Error('the first run fails');
      });
      await inbox.expect(expected('ORD-1'));
      await inbox.receive(paid('ORD-1'));
      const [transition] = await workUntil(inbox, areSettled);
      expect(transition).toMatchObject({ state: 'settled', attempts: 2 });
      expect(seen).toEqual([['500'], ['500']]);
      expect(await library.credits().amounts('ORD-1')).toEqual(['500']);
    });

    test('control: what a handler writes through the root client is credited twice', async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      inbox.handle(async ({ signed, settled, attempt }) => {
        await library.credits().add(signed.merchant_reference, settled.amount);
        if (attempt === 1) throw new Error('the first run fails');
      });
      await inbox.expect(expected('ORD-2'));
      await inbox.receive(paid('ORD-2'));
      const [transition] = await workUntil(inbox, areSettled);
      expect(transition).toMatchObject({ state: 'settled', attempts: 2 });
      expect(await library.credits().amounts('ORD-2')).toEqual(['500', '500']);
    });

    test('updates and deletions of a failed run are also rolled back', async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      const root = library.credits();
      await root.add('BALANCE-3', '0');
      await root.add('HOLD-3', '500');
      const found: (readonly string[])[] = [];
      inbox.handle(async ({ tx, settled, attempt }) => {
        const credits = library.credits(tx);
        found.push(await credits.amounts('BALANCE-3'), await credits.amounts('HOLD-3'));
        await credits.change('BALANCE-3', settled.amount);
        await credits.remove('HOLD-3');
        if (attempt === 1) throw new Error('the first run fails');
      });
      await inbox.expect(expected('ORD-3'));
      await inbox.receive(paid('ORD-3'));
      await workUntil(inbox, areSettled);
      expect(found).toEqual([['0'], ['500'], ['0'], ['500']]);
      expect([await root.amounts('BALANCE-3'), await root.amounts('HOLD-3')]).toEqual([['500'], []]);
    });

    test("an expectation is rolled back and committed with the merchant's transaction", async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      inbox.handle(({ tx, signed, settled }) =>
        library.credits(tx).add(signed.merchant_reference, settled.amount),
      );
      const order = (isFailing: boolean): Promise<unknown> =>
        library.transaction(async (tx) => {
          await library.credits(tx).add('ORDER-4', 'ordered');
          await inbox.expect(expected('ORD-4'), { tx });
          if (isFailing) throw new Error('the order is rolled back');
        });
      await inbox.receive(paid('ORD-4'));
      await expect(order(true)).rejects.toThrow('the order is rolled back');
      await workUntil(inbox, ([first]) => first?.reason === 'no_expectation');
      expect(await library.credits().amounts('ORDER-4')).toEqual([]);

      await order(false);
      await workUntil(inbox, areSettled);
      expect(await library.credits().amounts('ORDER-4')).toEqual(['ordered']);
      expect(await library.credits().amounts('ORD-4')).toEqual(['500']);
    });

    test("the inbox's own transaction is the library's", async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      const order = (error?: Error): Promise<string> =>
        inbox.transaction(async (tx) => {
          await library.credits(tx).add('ORDER-5', 'ordered');
          if (error !== undefined) throw error;
          return 'made';
        });
      const error = new Error('no');
      await expect(order(error)).rejects.toBe(error);
      expect(await library.credits().amounts('ORDER-5')).toEqual([]);
      expect(await order()).toBe('made');
      expect(await library.credits().amounts('ORDER-5')).toEqual(['ordered']);
    });

    test("the inbox's own transaction rejects after a failed statement, even if its body catches the error", async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      await library.credits().add('TAKEN', '0', 1012);
      const order = inbox.transaction(async (tx) => {
        await library.credits(tx).add('ORDER-12', 'ordered');
        await library
          .credits(tx)
          .add('ORDER-12', 'taken', 1012)
          .catch(() => undefined);
      });
      await expect(order).rejects.toThrow();
      expect(await library.credits().amounts('ORDER-12')).toEqual([]);
    });

    test('two payments are settled at the same time, each in its own transaction', async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      const both = signal();
      let running = 0;
      inbox.handle(async ({ tx, signed, settled }) => {
        const credits = library.credits(tx);
        await credits.add(signed.merchant_reference, settled.amount);
        running += 1;
        if (running === 2) both.give();
        await both.promise;
        await credits.add(signed.merchant_reference, 'fee');
      });
      for (const reference of ['ORD-6', 'ORD-7']) {
        await inbox.expect(expected(reference));
        await inbox.receive(paid(reference));
      }
      const transitions = await workUntil(inbox, areSettled);
      expect(transitions.map(({ attempts }) => attempts)).toEqual([1, 1]);
      for (const reference of ['ORD-6', 'ORD-7'])
        expect(await library.credits().amounts(reference)).toEqual(['500', 'fee']);
    });

    test("the operator's views and actions read the rows of the library", async () => {
      const inbox = await shop.newInbox({ retry: { attempts: 1 } });
      inbox.handle(() => Promise.reject(new Error('never')));
      await inbox.expect({ ...expected('ORD-13'), deadline: new Date(0) });
      await inbox.receive(paid('ORD-13'));
      await inbox.receive(paid('ORD-13'));
      const isDead: Parameters<typeof workUntil<Tx>>[1] = ([first]) => first?.state === 'dead';
      const [dead] = await workUntil(inbox, isDead);
      expect(await inbox.overdue()).toMatchObject([{ merchant_reference: 'ORD-13', deadline: new Date(0) }]);
      expect(await inbox.stats()).toMatchObject({ states: { dead: 1 }, reasons: { attempts_used_up: 1 } });
      expect(await inbox.health()).toMatchObject({ ok: true });
      const why = { by: 'dana', note: 'the ledger is back' };
      expect(await inbox.retry({ state: 'dead' }, why)).toBe(1);
      await workUntil(inbox, isDead);
      expect(await inbox.resolve({ state: 'dead' }, why)).toBe(1);
      expect(await inbox.prune({ bodiesOlderThanDays: 1, archiveOlderThanDays: 1 })).toEqual({
        bodies: 0,
        archived: 0,
      });
      expect(await inbox.show(dead?.transitionId ?? '')).toMatchObject({
        state: 'resolved',
        bodies: [{ deliveries: 2 }],
        actions: [{ action: 'retry' }, { action: 'resolve' }],
      });
    });

    test.each([
      ['that the handler passes on', false],
      ['that the handler swallows', true],
    ])("a violation of the database's constraints %s is retried", async (_title, isSwallowed) => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      const [reference, id] = isSwallowed ? ['ORD-8', 1008] : ['ORD-9', 1009];
      await library.credits().add('TAKEN', '0', id);
      inbox.handle(async ({ tx, settled, attempt }) => {
        const credits = library.credits(tx);
        const adding = credits.add(reference, settled.amount, attempt === 1 ? id : undefined);
        await (isSwallowed ? adding.catch(() => undefined) : adding);
      });
      await inbox.expect(expected(reference));
      await inbox.receive(paid(reference));
      const [transition] = await workUntil(inbox, areSettled);
      expect(transition).toMatchObject({ state: 'settled', attempts: 2 });
      expect(await library.credits().amounts(reference)).toEqual(['500']);
    });

    test('a handler whose connection is lost is retried by the same process', async () => {
      const { library } = shop;
      const inbox = await shop.newInbox();
      inbox.handle(async ({ tx, signed, settled, attempt }) => {
        const credits = library.credits(tx);
        await credits.add(signed.merchant_reference, settled.amount);
        if (attempt === 1) await shop.endTransactions();
        await credits.add(signed.merchant_reference, 'fee');
      });
      await inbox.expect(expected('ORD-10'));
      await inbox.receive(paid('ORD-10'));
      const [transition] = await workUntil(inbox, areSettled);
      expect(transition).toMatchObject({ state: 'settled', attempts: 2 });
      expect(await library.credits().amounts('ORD-10')).toEqual(['500', 'fee']);
    });

    test('a handler that continues after its time limit cannot write', async () => {
      const { library } = shop;
      const inbox = await shop.newInbox({ handlerTimeoutMs: 300 });
      const late = signal();
      const lateErrors: unknown[] = [];
      let hasSecondBegun = false;
      inbox.handle(async ({ tx, signed, settled, attempt }) => {
        const credits = library.credits(tx);
        const add = (): Promise<unknown> => credits.add(signed.merchant_reference, settled.amount);
        if (attempt === 1) {
          // Never idle for long, so that it is not the server that ends the session.
          while (!hasSecondBegun) await credits.amounts('ORD-11').catch(() => setTimeout(10));
          await add().catch((error: unknown) => lateErrors.push(error));
          late.give();
          return;
        }
        await add();
        hasSecondBegun = true;
        await late.promise;
      });
      await inbox.expect(expected('ORD-11'));
      await inbox.receive(paid('ORD-11'));
      await workUntil(inbox, areSettled);
      expect(lateErrors).toHaveLength(1);
      expect(await library.credits().amounts('ORD-11')).toEqual(['500']);
    });
  });
});

/** The inbox in the transactions of the merchant's own library: one suite for all of them, on a real PostgreSQL. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { forEachLibrary } from './libraries/for-each-library.ts';
import { areSettled, expected, paid, type Shop, settle, workUntil } from './shop.ts';

forEachLibrary('with %s', 'orm', <Tx>(shop: Shop<Tx>) => {
  test.each([
    ['in its transaction is credited once, and can be read back there', 'ORD-1', ['500']],
    ['through the root client is credited twice (control)', 'ORD-2', ['500', '500']],
  ])('what a handler that throws on its first run writes %s', async (_, reference, wanted) => {
    const inbox = await shop.newInbox();
    const seen: (readonly string[])[] = [];
    inbox.handle('paid', async ({ tx, payment: { settled }, attempt }) => {
      const credits = shop.library.credits(reference === 'ORD-1' ? tx : undefined);
      await credits.add(reference, settled.amount);
      seen.push(await credits.amounts(reference));
      if (attempt === 1) throw new Error('the first run fails');
    });
    expect(await settle(inbox, reference)).toMatchObject([{ attempts: 2 }]);
    expect(seen).toEqual([['500'], wanted]);
    expect(await shop.credited(reference)).toEqual(wanted);
  });

  test('a handler that PostgreSQL asks to repeat runs again immediately, in the same attempt', async () => {
    const inbox = await shop.newInbox();
    let runs = 0;
    inbox.handle('paid', async ({ tx, payment: { settled } }) => {
      runs += 1;
      await shop.library.credits(tx).add('ORD-40001', settled.amount);
      const conflict = "do $$ begin raise 'observed' using errcode = '40001'; end $$";
      if (runs < 3) await shop.library.run(tx, conflict);
    });
    expect(await settle(inbox, 'ORD-40001')).toMatchObject([{ attempts: 1 }]);
    expect([runs, await shop.credited('ORD-40001')]).toEqual([3, ['500']]);
  });

  test("an expectation is rolled back and committed with the merchant's transaction", async () => {
    const inbox = await shop.newInbox();
    inbox.handle('paid', shop.credit);
    const order = (isFailing: boolean): Promise<unknown> =>
      shop.library.transaction(async (tx) => {
        await shop.library.credits(tx).add('ORDER-4', 'ordered');
        await inbox.expect(expected('ORD-4'), { tx });
        if (isFailing) throw new Error('the order is rolled back');
      });
    await inbox.route.onCallback(paid('ORD-4'));
    await expect(order(true)).rejects.toThrow('the order is rolled back');
    await workUntil(inbox, ([first]) => first?.reason === 'no_expectation');
    expect(await shop.credited('ORDER-4')).toEqual([]);

    await order(false);
    await workUntil(inbox, areSettled);
    expect(await shop.credited('ORDER-4')).toEqual(['ordered']);
    expect(await shop.credited('ORD-4')).toEqual(['500']);
  });

  test("the inbox's own transaction is the library's, and rejects after a failed statement, even if its body catches the error", async () => {
    const inbox = await shop.newInbox();
    await shop.library.credits().add('TAKEN', '0', 1012);
    const order = (
      run: (credits: ReturnType<typeof shop.library.credits>) => Promise<unknown>,
    ): Promise<string> =>
      inbox.transaction(async (tx) => {
        await shop.library.credits(tx).add('ORDER-5', 'ordered');
        await run(shop.library.credits(tx));
        return 'made';
      });
    const error = new Error('no');
    await expect(order(() => Promise.reject(error))).rejects.toBe(error);
    const caught = order((credits) => credits.add('ORDER-5', 'taken', 1012).catch(() => undefined));
    await expect(caught).rejects.toThrow();
    expect(await shop.credited('ORDER-5')).toEqual([]);
    expect(await order(async () => undefined)).toBe('made');
    expect(await shop.credited('ORDER-5')).toEqual(['ordered']);
  });

  test('a handler whose connection is lost is retried by the same process', async () => {
    const inbox = await shop.newInbox();
    inbox.handle('paid', async ({ tx, signed, payment: { settled }, attempt }) => {
      const credits = shop.library.credits(tx);
      await credits.add(signed.merchant_reference, settled.amount);
      if (attempt === 1) await shop.endTransactions();
      await credits.add(signed.merchant_reference, 'fee');
    });
    expect(await settle(inbox, 'ORD-10')).toMatchObject([{ attempts: 2 }]);
    expect(await shop.credited('ORD-10')).toEqual(['500', 'fee']);
  });

  test('a handler that continues after its time limit cannot write', async () => {
    const inbox = await shop.newInbox({ handlerTimeoutMs: 300 });
    const late = Promise.withResolvers<void>();
    const lateErrors: unknown[] = [];
    let hasSecondBegun = false;
    inbox.handle('paid', async ({ tx, signed, payment: { settled }, attempt }) => {
      const credits = shop.library.credits(tx);
      const add = (): Promise<unknown> => credits.add(signed.merchant_reference, settled.amount);
      if (attempt === 1) {
        // Never idle for long, so that the server does not end the session.
        while (!hasSecondBegun) await credits.amounts('ORD-11').catch(() => setTimeout(10));
        await add().catch((error: unknown) => lateErrors.push(error));
        late.resolve();
        return;
      }
      await add();
      hasSecondBegun = true;
      await late.promise;
    });
    await settle(inbox, 'ORD-11');
    expect(lateErrors).toHaveLength(1);
    expect(await shop.credited('ORD-11')).toEqual(['500']);
  });
});

import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES } from '../support/merchant.ts';
import { newDueShop } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('the transaction of a handler on %s', (engine) => {
  it('a transaction cannot be used after its handler has ended', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    let kept: AnyTransaction | undefined;
    inbox.handle(({ tx }) => {
      kept = tx;
    });
    await workOff(inbox);
    await expect(kept?.query('select 1')).rejects.toThrow(ConfigurationError);
  });

  it.each([
    'commit',
    'COMMIT;',
    ' begin',
    'rollback',
    '-- a comment\n commit',
    '/* one */ /* two */ Rollback to x',
    ';;commit',
    'start transaction',
    'end',
    'abort',
    'savepoint x',
    'release x',
    "prepare transaction 'x'",
  ])('transaction control is refused: %j', async (text) => {
    const { merchant, inbox } = await newDueShop(engine);
    const errors: unknown[] = [];
    inbox.handle(async ({ tx, signed, settled }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      errors.push(await tx.query(text).catch((error: unknown) => error));
      throw new Error('undo');
    });
    await workOff(inbox);
    expect(errors[0]).toBeInstanceOf(ConfigurationError);
    expect(await merchant.credits()).toEqual([]);
  });

  it.each(["select 1; commit; insert into credit values ('x', '1')", 'select 1; select 2'])(
    'several statements in one text are refused: %j',
    async (text) => {
      const { merchant, inbox } = await newDueShop(engine);
      let error: unknown;
      inbox.handle(async ({ tx }) => {
        error = await tx.query(text).catch((thrown: unknown) => thrown);
        throw new Error('undo');
      });
      await workOff(inbox);
      expect(error).toBeInstanceOf(Error);
      expect(await merchant.credits()).toEqual([]);
    },
  );

  it('statements that a handler starts at once, or does not wait for, belong to its transaction', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    inbox.handle(async ({ tx, attempt }) => {
      const all = ['a', 'b', 'c'].map((reference) => merchant.credit(tx, reference, '1'));
      if (attempt === 1) {
        await Promise.all(all);
        throw new Error('undo');
      }
    });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([]);
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['a', 'b', 'c']);
  });

  it('a statement that fails fails the attempt', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt === 1) await tx.query('insert into no_such_table values (1)');
    });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    expect((await inbox.list())[0]?.lastError).toContain('no_such_table');
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('an effect that only the commit refuses counts as a failed attempt', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    await merchant.query('create table parent (id integer primary key)');
    await merchant.query(
      'create table child (id integer references parent (id) deferrable initially deferred)',
    );
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt === 1) await tx.query('insert into child values (1)');
    });
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    await stop();
    expect(await merchant.credits()).toEqual([]);
    expect((await inbox.list())[0]).toMatchObject({
      attempts: 1,
      lastError: expect.stringMatching(/foreign key/i),
    });
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('what could wait for the handler itself is refused at once', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    const errors: unknown[] = [];
    inbox.handle(async () => {
      const { transitionId } = paid('ORD-1', 500);
      const calls = [
        () => inbox.expect({ merchant_reference: 'ORD-2', currency: 'UGX', amount: 1 }),
        () => inbox.retry(transitionId),
        () => inbox.reopen(transitionId),
        () => inbox.resolve(transitionId, { note: 'closed' }),
      ];
      for (const call of calls) errors.push(await call().catch((error: unknown) => error));
      if (engine === 'postgres') return;
      // One writer, and it is the handler.
      for (const call of [() => inbox.receive(paid('ORD-2', 1)), () => inbox.prune()]) {
        errors.push(await call().catch((error: unknown) => error));
      }
    });
    await workOff(inbox);
    expect(errors).toHaveLength(engine === 'postgres' ? 4 : 6);
    for (const error of errors) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ option: 'tx' });
    }
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });
});

import { describe, expect, it, onTestFinished } from 'vitest';
import { type AnyTransaction, ENGINES } from '../support/merchant.ts';
import { newDueShop, newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

const WRONG = 'insert into no_such_table values (1)';

describe.each(ENGINES)('a statement that nobody waits for on %s', (engine) => {
  it('that fails fails the attempt, says why, and ends no process', async () => {
    const unhandled = unhandledRejections();
    const { merchant, inbox } = await newDueShop(engine);
    inbox.handle(async ({ tx, attempt }) => {
      await merchant.credit(tx, 'ORD-1', '500');
      if (attempt === 1) await goOn(tx, () => void tx.query(WRONG));
    });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    expect((await inbox.list())[0]?.lastError).toContain('no_such_table');
    expect(await merchant.credits()).toEqual([]);
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    expect(unhandled).toEqual([]);
  });

  it('and so in transaction(), also when it is refused or not the only one', async () => {
    const unhandled = unhandledRejections();
    const { merchant, inbox } = await newShop(engine);
    const forget: ((tx: AnyTransaction) => void)[] = [
      (tx) => void tx.query(WRONG),
      (tx) => {
        void tx.query(WRONG);
        void tx.query('insert into no_other_table values (1)');
      },
    ];
    for (const start of forget) {
      const failed = inbox.transaction(async (tx) => {
        await merchant.credit(tx, 'order', '500');
        await goOn(tx, () => start(tx));
      });
      await expect(failed).rejects.toThrow(/no_such_table/);
    }
    const refused = inbox.transaction((tx) => goOn(tx, () => void tx.query('commit')));
    await expect(refused).rejects.toMatchObject({ option: 'text' });
    expect(await merchant.credits()).toEqual([]);
    expect(unhandled).toEqual([]);
  });

  it('nothing runs after it, and what is tried says why', async () => {
    const { merchant, inbox } = await newShop(engine);
    let next: unknown;
    const failed = inbox.transaction(async (tx) => {
      void tx.query(WRONG);
      next = await merchant.credit(tx, 'order', '500').catch(same);
    });
    await expect(failed).rejects.toThrow(/no_such_table/);
    expect(next).toMatchObject({ message: expect.stringContaining('no_such_table') });
  });
});

/** Starts what nobody waits for, and gives it the time to fail. */
async function goOn(tx: AnyTransaction, start: () => void): Promise<void> {
  start();
  await tx.query('select 1').catch(same);
}

function unhandledRejections(): readonly unknown[] {
  const seen: unknown[] = [];
  const listener = (reason: unknown): unknown => seen.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.removeListener('unhandledRejection', listener));
  return seen;
}

const same = (error: unknown): unknown => error;

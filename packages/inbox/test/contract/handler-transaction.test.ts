import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { creditIn, LATER, MINUTE_MS, NOTE, newDueShop, ORDER } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const WRONG = 'insert into no_such_table values (1)';
const { transitionId } = paid('ORD-1', 500);

describe.each(ENGINES)('the transaction of a handler on %s', (engine) => {
  it.each<[string, readonly string[], { throws?: boolean; credits: number }]>([
    ['commits', ['commit'], { credits: 1 }],
    ['commits and begins another', ['commit', 'begin'], { credits: 1 }],
    ['commits and throws', ['commit'], { throws: true, credits: 1 }],
    ['rolls back', ['rollback'], { credits: 0 }],
  ])(
    'a handler that %s by itself is dead, and not run again',
    async (_, texts, { throws = false, credits }) => {
      const { merchant, inbox } = await newDueShop(engine, LATER);
      inbox.handle(async (transition) => {
        await creditIn(merchant)(transition);
        for (const text of texts) await transition.tx.query(text);
        if (throws) throw new Error('after its commit');
      });
      await workOff(inbox);
      await merchant.clock.advance(60 * MINUTE_MS);
      await workOff(inbox);
      expect(await inbox.list()).toMatchObject([
        {
          state: 'dead',
          reason: 'transaction_ended',
          attempts: 1,
          lastError: expect.stringContaining('COMMIT'),
        },
      ]);
      expect(await merchant.credits()).toHaveLength(credits);
      // Neither the connection nor the next transaction is any the worse for it.
      await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
      expect(await merchant.credits()).toHaveLength(credits + 1);
    },
  );

  it('a statement that fails fails the attempt, also when the handler swallows its error', async () => {
    const { merchant, inbox } = await newDueShop(engine, LATER);
    const next: unknown[] = [];
    inbox.handle(async (transition) => {
      const { tx, attempt } = transition;
      await creditIn(merchant)(transition);
      if (attempt === 1) await tx.query(WRONG);
      if (attempt > 2) return;
      await tx.query(WRONG).catch(() => undefined);
      next.push(await tx.query('select 1').catch(() => 'refused'));
    });
    await workOff(inbox);
    const lastError = expect.stringContaining('no_such_table');
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1, lastError }]);
    await merchant.clock.advance(MINUTE_MS);
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 2 }]);
    expect(next).toEqual(['refused']);
    expect(await merchant.credits()).toEqual([]);
    await merchant.clock.advance(2 * MINUTE_MS);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('an effect that only the commit refuses counts as a failed attempt', async () => {
    const { merchant, inbox } = await newDueShop(engine, LATER);
    await merchant.deferredChild();
    inbox.handle(async (transition) => {
      await creditIn(merchant)(transition);
      if (transition.attempt === 1) await transition.tx.query('insert into child values (1)');
    });
    await workOff(inbox);
    const lastError = expect.stringMatching(/foreign key/i);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1, lastError }]);
    expect(await merchant.credits()).toEqual([]);
    await merchant.clock.advance(MINUTE_MS);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('can read the inbox while it runs', async () => {
    const { merchant, inbox } = await newDueShop(engine, LATER);
    const seen: unknown[] = [];
    inbox.handle(async (transition) => {
      seen.push((await inbox.list()).length, (await inbox.stats()).states.pending);
      await creditIn(merchant)(transition);
    });
    await workOff(inbox);
    expect(seen).toEqual([1, 1]);
    expect(await merchant.credits()).toHaveLength(1);
  });
});

describe('the transaction of a handler on sqlite, which has one writer', () => {
  it('what would wait for the handler itself is refused at once, and hurts nobody else', async () => {
    const { merchant, inbox } = await newDueShop('sqlite', LATER);
    const refused: unknown[] = [];
    inbox.handle(async (transition) => {
      const calls: (() => Promise<unknown>)[] = [
        () => inbox.expect({ ...ORDER, merchant_reference: 'ORD-2' }),
        () => inbox.transaction(async () => 1),
        () => inbox.retry(transitionId, NOTE),
        () => inbox.resolve(transitionId, NOTE),
        () => inbox.reopen(transitionId, NOTE),
        () => inbox.prune(),
      ];
      for (const call of calls) refused.push(await call().catch((error: unknown) => error));
      await creditIn(merchant)(transition);
    });
    const stop = startWork(inbox);
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
    expect(refused).toHaveLength(6);
    for (const error of refused) expect(error).toMatchObject({ name: 'ConfigurationError', option: 'tx' });
    expect(await merchant.credits()).toHaveLength(1);
  });
});

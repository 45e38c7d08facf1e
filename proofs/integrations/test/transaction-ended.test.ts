/** A handler that ends its own transaction, in every library, in every way, and with various actions afterwards. */
import { expect, test } from 'vitest';
import { forEachLibrary } from './libraries/for-each-library.ts';
import type { Library } from './libraries/library.ts';
import { pay, type Shop, settle, workUntil } from './shop.ts';

/** Statements that end a transaction, and perhaps begin another. */
const STATEMENTS = [['commit'], ['rollback'], ['commit', 'begin'], ['rollback and chain']];

interface Run<Tx> {
  readonly library: Library<Tx>;
  readonly tx: Tx;
  readonly reference: string;
}

/** What the handler does after it has ended its transaction. */
const CONTINUATIONS: Readonly<Record<string, <Tx>(run: Run<Tx>) => Promise<unknown>>> = {
  returns: async () => undefined,
  throws: async () => {
    throw new Error('after its end');
  },
  writes: ({ library, tx, reference }) => library.credits(tx).add(reference, 'later'),
  'writes, hides what that throws, and returns': ({ library, tx, reference }) =>
    library
      .credits(tx)
      .add(reference, 'later')
      .catch(() => undefined),
  'fails a statement': async ({ library, tx }) => library.run(tx, 'select no_such_column'),
};

const ENDED = 'dead: transaction_ended, attempts: 1';
/** Like any other failed attempt: nothing is committed. */
const FAILED = 'dead: attempts_used_up, attempts: 3';

/** The possible outcomes of the transition, and how often its effect is committed. */
function allowed(way: string, continuation: string): readonly string[] {
  // What the handler does next may be faster than the call that it does not wait for.
  if (way.includes('not awaited')) return [`${ENDED}, 0 times`, `${ENDED}, 1 times`, `${FAILED}, 0 times`];
  if (way.includes('commit')) return [`${ENDED}, 1 times`];
  const isInAnother = way.includes('chain') && continuation === 'fails a statement';
  if (isInAnother) return [`${FAILED}, 0 times`];
  return [`${ENDED}, 0 times`];
}

forEachLibrary('threat A50: with %s, a handler that ends its transaction', 'ended', <Tx>(shop: Shop<Tx>) => {
  const raw = STATEMENTS.map((statements): readonly [string, (run: Run<Tx>) => Promise<void>] => [
    statements.join('; '),
    async ({ library, tx }) => {
      for (const statement of statements) await library.run(tx, statement);
    },
  ]);

  test('is dead after one attempt, in every way and whatever it does afterwards', async () => {
    const own = Object.entries(shop.library.endings ?? {}).flatMap(
      ([call, end]): (readonly [string, (run: Run<Tx>) => Promise<unknown>])[] => [
        [call, async ({ tx }) => end(tx)],
        [`${call}, not awaited`, async ({ tx }) => void Promise.resolve(end(tx)).catch(() => undefined)],
      ],
    );
    const retry = { attempts: 3, firstDelayMs: 1, longestDelayMs: 1 };
    const inbox = await shop.newInbox({ retry, storeTimeoutMs: 2000 });
    const ways = new Map(
      Object.entries(CONTINUATIONS).flatMap(([continuation, goOn]) =>
        [...raw, ...own].map(
          ([way, end], index) =>
            [`ORD-${continuation}-${index}` as string, { way, end, continuation, goOn }] as const,
        ),
      ),
    );
    inbox.handle('paid', async ({ tx, signed: { merchant_reference: reference }, payment: { settled } }) => {
      const run = { library: shop.library, tx, reference };
      await shop.library.credits(tx).add(reference, settled.amount);
      await ways.get(reference)?.end(run);
      await ways.get(reference)?.goOn(run);
    });
    await pay(inbox, ...ways.keys());
    const transitions = await workUntil(inbox, (all) => all.every(({ nextAt }) => nextAt === undefined));
    const violations: string[] = [];
    for (const { signed, state, reason, attempts } of transitions) {
      const { way = '', continuation = '' } = ways.get(signed.merchant_reference) ?? {};
      const amounts = await shop.credited(signed.merchant_reference);
      const count = amounts.filter((amount) => amount === '500').length;
      const outcome = `${state}: ${reason}, attempts: ${attempts}, ${count} times`;
      const isOnce = amounts.length - count <= 1;
      if (!isOnce || !allowed(way, continuation).includes(outcome))
        violations.push(`${way}, and then ${continuation}: ${outcome}`);
    }
    expect(violations).toEqual([]);
    expect(transitions).toHaveLength(ways.size);
  });

  test('control: the same handlers that do not end the transaction are settled, or fail and are rolled back', async () => {
    const inbox = await shop.newInbox({ handlerTimeoutMs: 2000 });
    const continuations = Object.keys(CONTINUATIONS);
    const references = continuations.map((_, index) => `ORD-control-${index}`);
    inbox.handle(
      'paid',
      async ({ tx, signed: { merchant_reference: reference }, payment: { settled }, attempt }) => {
        await shop.library.credits(tx).add(reference, settled.amount);
        const goOn = CONTINUATIONS[continuations[references.indexOf(reference)] ?? ''];
        if (attempt === 1) await goOn?.({ library: shop.library, tx, reference });
      },
    );
    await settle(inbox, ...references);
    for (const reference of references) {
      const amounts = await shop.credited(reference);
      expect(amounts.filter((amount) => amount === '500')).toHaveLength(1);
    }
  });
});

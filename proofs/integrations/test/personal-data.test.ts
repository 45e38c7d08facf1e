/**
 * Threat A61. The values of a handler's statements appear in the errors of every library, but in nothing that the inbox stores
 * or reports.
 */
import { inspect } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { forEachLibrary } from './libraries/for-each-library.ts';
import type { Library } from './libraries/library.ts';
import { pay, type Shop, workUntil } from './shop.ts';

const NAME = 'Canary Nakato';
const PHONE = '256700123456';
const NOT_THERE = 'Nothing in the canary is in it.';

/** Failing statements with personal data, and what an operator can still read about each. */
const FAILING: Readonly<
  Record<string, readonly [told: RegExp, run: <Tx>(library: Library<Tx>, tx: Tx) => PromiseLike<unknown>]>
> = {
  'a duplicate key': [
    /credit_pkey|P2002 Credit id 23505/,
    (library, tx) => library.credits(tx).add(NAME, PHONE, 1),
  ],
  'a number that is too large': [
    /22003/,
    (library, tx) => library.credits(tx).add(NAME, PHONE, Number(PHONE)),
  ],
  'a string with NUL': [/22021/, (library, tx) => library.credits(tx).add(`${NAME}\0${PHONE}`, PHONE)],
  'a cast of a string': [
    /22P02/,
    (library, tx) => library.run(tx, `select cast('${NAME} - ${PHONE}' as integer)`),
  ],
  'a table that is missing': [
    /no_such_table|P2010 42P01/,
    (library, tx) => library.run(tx, `select '${NAME}', '${PHONE}' from no_such_table`),
  ],
  'a statement that is malformed': [/42601/, (library, tx) => library.run(tx, `select '${PHONE}' '${NAME}'`)],
};

forEachLibrary('with %s', 'privacy', <Tx>(shop: Shop<Tx>) => {
  beforeAll(() => shop.library.credits().add('TAKEN', '0', 1));

  test('threat A61: the last error of a failing statement names the kind of failure, but no value', async () => {
    const reported: unknown[] = [];
    const inbox = await shop.newInbox({
      retry: { attempts: 1 },
      onError: (_error, problem) => reported.push(problem),
      onEvent: (event) => reported.push(event),
    });
    const kinds = new Map(Object.values(FAILING).map((kind, index) => [`ORD-${index}`, kind]));
    inbox.handle('paid', async ({ tx, signed }) =>
      kinds.get(signed.merchant_reference)?.[1](shop.library, tx),
    );
    await pay(inbox, ...kinds.keys());
    const dead = await workUntil(inbox, (all) => all.every(({ state }) => state === 'dead'));
    expect(dead).toHaveLength(kinds.size);
    for (const { signed, lastError } of dead) {
      expect(lastError).toMatch(kinds.get(signed.merchant_reference)?.[0] ?? 'unknown');
      for (const canary of [NAME, PHONE]) expect(lastError, NOT_THERE).not.toContain(canary);
    }
    for (const canary of [NAME, PHONE])
      expect(inspect(reported, { depth: 9, maxArrayLength: null }), NOT_THERE).not.toContain(canary);
  });
});

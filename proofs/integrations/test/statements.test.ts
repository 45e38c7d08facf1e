/** What a store promises to the inbox: statements, rows, transactions and errors. */

import type { Store } from '@payment-service/inbox';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { forEachLibrary } from './libraries/for-each-library.ts';
import type { Library, Open } from './libraries/library.ts';
import { newDatabase, type Shop } from './shop.ts';

const CONFLICT = `create or replace function conflict() returns integer language plpgsql as $$
  begin
    if current_setting('transaction_isolation') = 'read committed' then return 1; end if;
    raise 'observed' using errcode = '40001';
  end $$`;

forEachLibrary(
  'the store of %s',
  'statements',
  <Tx>(shop: Shop<Tx>, name: string, open: Open<Tx>) => {
    let store: Store<Tx>;
    beforeAll(() => {
      store = shop.library.newStore('inbox');
    });
    /** The library on another database with this setting. */
    const openWith = async (setting: string): Promise<Library<Tx>> => {
      const database = `${name}_${setting.replaceAll(/\W+/g, '_')}`;
      const library = await open(await newDatabase(database, { setting }));
      onTestFinished(async () => void (await library.close()));
      return library;
    };

    test('a statement gets its values in any order and returns its rows', async () => {
      const text = `select '?' as mark, cast($2 as text) || cast($1 as text) || cast($2 as text) as texts,
        cast($3 as bigint) as number, cast($4 as text) as nothing`;
      const run = (tx?: Tx) => store.query({ text }, ['a', 'b', 2 ** 40, null], tx);
      for (const [row] of [await run(), await store.transaction(run)]) {
        expect({ ...row, number: Number(row?.['number']) }).toEqual({
          mark: '?',
          texts: 'bab',
          number: 2 ** 40,
          nothing: null,
        });
      }
    });

    test("transactions of the inbox are read committed, and those of the merchant have the database's default", async () => {
      const level = (tx?: Tx) => store.query({ text: 'show transaction_isolation' }, [], tx);
      expect(await level()).toEqual([{ transaction_isolation: 'serializable' }]);
      expect(await store.transaction(level)).toEqual([{ transaction_isolation: 'read committed' }]);
      expect(await store.transaction(level, { isMerchants: true })).toEqual([
        { transaction_isolation: 'serializable' },
      ]);
    });

    test('a statement alone that conflicts at the level of the database runs again at READ COMMITTED', async () => {
      await store.query({ text: CONFLICT }, []);
      expect(await store.query({ text: 'select conflict() as found' }, [])).toEqual([{ found: 1 }]);
      // Control: in a transaction at that level, it conflicts.
      const select = (tx: Tx) => store.query({ text: 'select conflict() as found' }, [], tx);
      await expect(store.transaction(select, { isMerchants: true })).rejects.toThrow('observed');
    });

    test('a statement rejects with a code', async () => {
      const code = name === 'prisma' ? 'P2010' : '42P01';
      await expect(store.query({ text: 'select 1 from missing' }, [])).rejects.toMatchObject({ code });
    });

    test('a server that would lose what it acknowledges is refused', async () => {
      await expect(store.check?.()).resolves.toBeUndefined();
      const careless = await openWith('synchronous_commit = off');
      await expect(careless.newStore('inbox').check?.()).rejects.toThrow('synchronous_commit');
    });
  },
  { setting: "default_transaction_isolation = 'serializable'" },
);

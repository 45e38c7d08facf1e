import { describe } from 'vitest';
import { type Shop, type ShopOptions, useShop } from '../shop.ts';
import { openDrizzle } from './drizzle.ts';
import { openKnex } from './knex.ts';
import { openKysely } from './kysely.ts';
import type { Open } from './library.ts';
import { openPostgres } from './postgres.ts';
import { openPrisma } from './prisma.ts';
import { openTypeorm } from './typeorm.ts';

/**
 * Runs a suite for `pg` alone and for every library, each with its own type of transaction and its own database.
 *
 * @param title of the suite; `%s` is the library.
 * @param database The end of the names of the databases.
 */
export function forEachLibrary(
  title: string,
  database: string,
  suite: <Tx>(shop: Shop<Tx>, name: string, open: Open<Tx>) => void,
  options?: ShopOptions,
): void {
  const run = <Tx>(name: string, open: Open<Tx>): void => {
    describe(title.replace('%s', name), () =>
      suite(useShop(`${name}_${database}`, open, options), name, open),
    );
  };
  run('pg', openPostgres);
  run('prisma', openPrisma);
  run('drizzle', openDrizzle);
  run('knex', openKnex);
  run('typeorm', openTypeorm);
  run('kysely', openKysely);
}

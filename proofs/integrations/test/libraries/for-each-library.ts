import { openDrizzle } from './drizzle.ts';
import { openKnex } from './knex.ts';
import { openKysely } from './kysely.ts';
import type { Library } from './library.ts';
import { openPostgres } from './postgres.ts';
import { openPrisma } from './prisma.ts';
import { openTypeorm } from './typeorm.ts';

export type Open<Tx> = (connectionString: string) => Promise<Library<Tx>>;

/** Runs a suite for `pg` alone and for every library, each with its own type of transaction. */
export function forEachLibrary(suite: <Tx>(name: string, open: Open<Tx>) => void): void {
  suite('pg', openPostgres);
  suite('prisma', openPrisma);
  suite('drizzle', openDrizzle);
  suite('knex', openKnex);
  suite('typeorm', openTypeorm);
  suite('kysely', openKysely);
}

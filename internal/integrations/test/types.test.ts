/** A handler gets the transaction type of its library's documentation. */
import { createInbox, type Inbox, postgres } from '@payment-service/inbox';
import { drizzle } from '@payment-service/inbox/drizzle';
import { knex } from '@payment-service/inbox/knex';
import { kysely } from '@payment-service/inbox/kysely';
import { prisma } from '@payment-service/inbox/prisma';
import { typeorm } from '@payment-service/inbox/typeorm';
import { sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Knex } from 'knex';
import type { Kysely, Transaction } from 'kysely';
import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { expectTypeOf, test } from 'vitest';
import type { Prisma, PrismaClient } from '../.generated/client.ts';

interface Tables {
  readonly credit: { readonly reference: string };
}

const openers = {
  pg: (pool: pg.Pool) => createInbox({ store: postgres(pool) }),
  prisma: (client: PrismaClient) => createInbox({ store: prisma(client) }),
  drizzle: (database: NodePgDatabase) => createInbox({ store: drizzle(database, sql) }),
  knex: (database: Knex) => createInbox({ store: knex(database) }),
  typeorm: (source: DataSource) => createInbox({ store: typeorm(source) }),
  kysely: (database: Kysely<Tables>) => createInbox({ store: kysely(database) }),
};
type Opened<Name extends keyof typeof openers> = ReturnType<(typeof openers)[Name]>;

test('a handler gets the transaction of its library, by its own type', () => {
  expectTypeOf<Opened<'pg'>>().toEqualTypeOf<Inbox<pg.PoolClient>>();
  expectTypeOf<Opened<'prisma'>>().toEqualTypeOf<Inbox<Prisma.TransactionClient>>();
  expectTypeOf<Opened<'knex'>>().toEqualTypeOf<Inbox<Knex.Transaction>>();
  expectTypeOf<Opened<'typeorm'>>().toEqualTypeOf<Inbox<EntityManager>>();
  expectTypeOf<Opened<'kysely'>>().toEqualTypeOf<Inbox<Transaction<Tables>>>();
  type Body = Parameters<NodePgDatabase['transaction']>[0];
  expectTypeOf<Opened<'drizzle'>>().toEqualTypeOf<Inbox<Parameters<Body>[0]>>();
});

/** A callback that another process keeps is processed immediately: its NOTIFY is sent and received through each library. */
import { setTimeout } from 'node:timers/promises';
import { ConfigurationError } from '@payment-service/core';
import type { Inbox, Store } from '@payment-service/inbox';
import { drizzle } from '@payment-service/inbox/drizzle';
import { knex } from '@payment-service/inbox/knex';
import { kysely } from '@payment-service/inbox/kysely';
import { prisma } from '@payment-service/inbox/prisma';
import { typeorm } from '@payment-service/inbox/typeorm';
import { PrismaPg } from '@prisma/adapter-pg';
import { sql } from 'drizzle-orm';
import { drizzle as connectDrizzle } from 'drizzle-orm/node-postgres';
import connectKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import { DataSource } from 'typeorm';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { PrismaClient } from '../.generated/client.ts';
import { forEachLibrary } from './libraries/for-each-library.ts';
import { newPool } from './libraries/pool.ts';
import { expected, paid, type Shop } from './shop.ts';

const HOUR_MS = 3_600_000;

forEachLibrary('with %s, a worker that polls once an hour', 'wake', <Tx>(shop: Shop<Tx>) => {
  /** A worker, and a receiver on the same tables that does not know of it. */
  async function pair(schema: string, change: (store: Store<Tx>) => Store<Tx> = (store) => store) {
    const worker = await shop.newInbox({ store: change(shop.library.newStore(schema)) });
    const receiver = await shop.newInbox({ store: shop.library.newStore(schema) });
    worker.handle(shop.credit);
    for (const reference of ['ORD-1', 'ORD-2', 'ORD-3']) await receiver.expect(expected(reference));
    void worker.work({ signal: new AbortController().signal, pollMs: HOUR_MS });
    return { worker, receiver };
  }

  test('settles what another inbox keeps; the control, which does not listen, does so when it polls', async () => {
    const deaf = await pair('deaf', ({ listen: _, ...store }) => store);
    await deaf.worker.receive(paid('ORD-1'));
    await untilSettled(deaf.worker, 1);
    const { worker, receiver } = await pair('hearing');
    await until(async () => (await shop.listeners()) === 1);
    await receiver.receive(paid('ORD-1'));
    await untilSettled(worker, 1);
    await deaf.receiver.receive(paid('ORD-2'));
    // Kept later, and settled: by then, the control's own callback has been announced.
    for (const [index, reference] of ['ORD-2', 'ORD-3'].entries()) {
      await receiver.receive(paid(reference));
      await untilSettled(worker, index + 2);
    }
    expect((await deaf.receiver.stats()).states).toMatchObject({ settled: 1, pending: 1 });
    await deaf.worker.transaction(async () => undefined); // A worker looks after a call of its own.
    await untilSettled(deaf.worker, 2);
    await worker.close();
    await until(async () => (await shop.listeners()) === 0);
  });
});

describe('the option listen', () => {
  // None of these connects before it is used.
  const url = inject('postgresUrl');
  const pool = (max: number) => Object.assign(newPool(url), { options: { max } });
  const prismaClient = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  const kyselyDb = new Kysely<object>({ dialect: new PostgresDialect({ pool: pool(10) }) });

  test('of every library accepts a pool of three connections, and refuses one that could never wake a worker', () => {
    const openers = {
      prisma: (listen: never) => prisma(prismaClient, { listen }),
      drizzle: (listen: never) => drizzle(connectDrizzle(pool(10)), sql, { listen }),
      knex: (listen: never) => knex(connectKnex({ client: 'pg' }), { listen }),
      typeorm: (listen: never) => typeorm(new DataSource({ type: 'postgres', url }), { listen }),
      kysely: (listen: never) => kysely(kyselyDb, { listen }),
    };
    for (const open of Object.values(openers)) {
      for (const wrong of [pool(2), pool(1), url, true, null, {}])
        expect(() => open(wrong as never)).toThrow(ConfigurationError);
      expect(open(pool(3) as never).listen).toBeTypeOf('function');
    }
  });

  test('defaults to the pool of Drizzle, Knex and TypeORM, unless it is small; Prisma and Kysely do not expose theirs', async () => {
    const opened = async (max: number) => {
      const own = newPool(url);
      own.options.max = max;
      const source = new DataSource({ type: 'postgres', url, extra: { max } });
      await source.initialize();
      onTestFinished(() => source.destroy());
      const stores = [
        drizzle(connectDrizzle(own), sql),
        typeorm(source),
        knex(connectKnex({ client: 'pg', connection: url, pool: { max } })),
        knex(connectKnex({ client: 'pg', connectionPool: own })),
      ];
      return stores.map(({ listen }) => typeof listen);
    };
    expect(await opened(3)).toEqual(Array(4).fill('function'));
    expect(await opened(2)).toEqual(Array(4).fill('undefined'));
    expect(prisma(prismaClient).listen).toBeUndefined();
    expect(kysely(kyselyDb).listen).toBeUndefined();
  });
});

/** A hang is ended by the test's own deadline. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(5);
}

function untilSettled<Tx>(inbox: Inbox<Tx>, count: number): Promise<void> {
  return until(async () => (await inbox.stats()).states.settled === count);
}

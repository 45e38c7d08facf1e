import { prisma } from '@payment-service/inbox/prisma';
import { PrismaPg } from '@prisma/adapter-pg';
import { type Prisma, PrismaClient } from '../../.generated/client.ts';
import type { Library } from './library.ts';
import { newPool } from './pool.ts';

export async function openPrisma(connectionString: string): Promise<Library<Prisma.TransactionClient>> {
  const pool = newPool(connectionString);
  const client = new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) });
  return {
    newStore: (schema) => prisma(client, { schema, listen: pool }),
    credits: ({ credit } = client) => ({
      add: (reference, amount, id) =>
        credit.create({ data: { reference, amount, ...(id === undefined ? {} : { id }) } }),
      amounts: async (reference) =>
        (await credit.findMany({ where: { reference } })).map(({ amount }) => amount),
    }),
    run: (tx, text) => tx.$executeRawUnsafe(text),
    nest: (tx, body) => tx.$transaction(body),
    transaction: (body) => client.$transaction(body),
    close: () => client.$disconnect(),
  };
}

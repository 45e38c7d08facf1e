/** Threat A76. What a library leaves on its connections: no acknowledgement and no event without a COMMIT of the server. */
import { createInbox } from '@payment-service/inbox';
import { prisma } from '@payment-service/inbox/prisma';
import { PrismaPg } from '@prisma/adapter-pg';
import { afterAll, expect, inject, test } from 'vitest';
import { PrismaClient } from '../.generated/client.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { forEachLibrary } from './libraries/for-each-library.ts';
import { isBegin, isCommit, Observed, resetAll, WAYS } from './sessions.ts';
import type { Shop } from './shop.ts';

const proxy = await cuttingProxy(inject('postgresUrl'));
afterAll(proxy.end);

forEachLibrary(
  'threat A76: with %s',
  'sessions',
  <Tx>(shop: Shop<Tx>, name: string) => {
    test('events, table and ledger agree after nested, overlapping and abandoned transactions, and sessions that are reset at BEGIN and COMMIT', async () => {
      const observed = await Observed.open(shop, 'observed');
      const ways = Object.entries(WAYS);
      await Promise.all(ways.map(([way, act]) => observed.receive(`first, ${way}`, act)));
      await observed.workOff();
      for (const [way] of ways) await observed.receive(`then, ${way}`);
      for (const isAt of [isBegin, isCommit]) {
        await observed.receive(`before ${isAt.name}`);
        proxy.cut({ moment: 'before', isAt });
        await observed.workOff();
      }
      // Drizzle keeps a connection whose BEGIN failed.
      if (name === 'drizzle') await resetAll(proxy, observed.inbox);
      await observed.receive('the last one');
      await observed.workOff();
      expect(await observed.faults()).toEqual([]);
    });
  },
  { server: () => proxy.url },
);

test('a timeout of prisma() that is not longer than handlerTimeoutMs is refused, with both numbers', () => {
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: proxy.url }) });
  const open = (timeout: number): unknown => createInbox({ store: prisma(client, { timeout }) });
  expect(() => open(30_000)).toThrow(/30000 ms \(its timeout\).*30000 ms \(handlerTimeoutMs\)/);
  expect(() => open(30_001)).not.toThrow();
});

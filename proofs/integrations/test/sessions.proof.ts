/** Threat A76, in full: the session of every message in turn is reset, and each way of a handler is reset as well. */
import { afterAll, expect, inject, test } from 'vitest';
import { cuttingProxy } from './cutting-proxy.ts';
import { forEachLibrary } from './libraries/for-each-library.ts';
import { cutAt, isNone, Observed, resetAll, WAYS } from './sessions.ts';
import type { Shop } from './shop.ts';

const proxy = await cuttingProxy(inject('postgresUrl'));
afterAll(proxy.end);

forEachLibrary(
  'threat A76: with %s',
  'sessions_proof',
  <Tx>(shop: Shop<Tx>) => {
    test.each(['before', 'after'] as const)(
      'a session that is reset %s any message of a payment delays it only',
      async (moment) => {
        const observed = await Observed.open(shop, moment);
        for (let number = 1; number <= 40; number += 1) {
          cutAt(proxy, number, moment);
          await observed.receive(`${moment} ${number}`);
          await observed.workOff();
        }
        proxy.cut({ moment, isAt: isNone });
        expect(await observed.faults(moment === 'after')).toEqual([]);
      },
    );

    test.each(Object.keys(WAYS))(
      'a handler that %s settles what it commits, while sessions are reset',
      async (way) => {
        const observed = await Observed.open(shop, `way_${Object.keys(WAYS).indexOf(way)}`);
        for (let number = 1; number <= 20; number += 1) {
          cutAt(proxy, number, 'before');
          await observed.receive(`${way} ${number}`, WAYS[way]);
          await observed.workOff();
        }
        proxy.cut({ moment: 'before', isAt: isNone });
        expect(await observed.faults()).toEqual([]);
      },
    );

    test('a pool whose idle sessions were all reset is used again', async () => {
      const observed = await Observed.open(shop, 'reset');
      for (let round = 0; round < 3; round += 1) {
        await resetAll(proxy, observed.inbox);
        await observed.receive(`reset ${round}`);
        await observed.workOff();
      }
      expect(await observed.faults()).toEqual([]);
    });
  },
  { server: () => proxy.url },
);

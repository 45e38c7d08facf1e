import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { ORDER } from '../support/shop.ts';
import { signal, until } from '../support/until.ts';

const HOUR = 3_600_000;

describe.each(ENGINES)('an idle worker on %s', (engine) => {
  it('works on what was kept while it was still told that nothing is due', async () => {
    const merchant = await newMerchant(engine);
    const toldNothing = signal();
    const goOn = signal();
    const store = whenIdle(merchant.newStore(), async () => {
      toldNothing.give();
      await goOn.promise;
    });
    const inbox = merchant.open({ store });
    inbox.handle(({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount));
    await inbox.expect(ORDER);
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, concurrency: 1, pollMs: HOUR });
    await toldNothing.promise;
    await inbox.receive(paid('ORD-1', 500));
    goOn.give();
    await until(async () => (await inbox.stats()).states.settled === 1);
    stop.abort();
    await working;
    expect(await merchant.credits()).toHaveLength(1);
  });
});

/** The same store, whose answer that nothing is due arrives after `then`. */
function whenIdle(store: Store<AnyTransaction>, then: () => Promise<void>): Store<AnyTransaction> {
  return {
    ...store,
    open(options) {
      const opened = store.open(options);
      const openLane = opened.openLane.bind(opened);
      opened.openLane = async (limits) => {
        const lane = await openLane(limits);
        const claim = lane.claim.bind(lane);
        lane.claim = async (account, now) => {
          const id = await claim(account, now);
          if (id === undefined) await then();
          return id;
        };
        return lane;
      };
      return opened;
    },
  };
}

/** A callback that another process keeps is processed immediately: its NOTIFY is sent and received through each library. */
import { setTimeout } from 'node:timers/promises';
import type { Inbox, Store } from '@payment-service/inbox';
import { expect, test } from 'vitest';
import { forEachLibrary } from './libraries/for-each-library.ts';
import { expected, paid, type Shop } from './shop.ts';

const HOUR_MS = 3_600_000;

forEachLibrary('with %s, a worker that polls once an hour', 'wake', <Tx>(shop: Shop<Tx>) => {
  /** A worker, and a receiver on the same tables that does not know of it. */
  async function pair(schema: string, change: (store: Store<Tx>) => Store<Tx> = (store) => store) {
    const worker = await shop.newInbox({ store: change(shop.library.newStore(schema)) });
    const receiver = await shop.newInbox({ store: shop.library.newStore(schema) });
    worker.handle('paid', shop.credit);
    for (const reference of ['ORD-1', 'ORD-2', 'ORD-3']) await receiver.expect(expected(reference));
    void worker.work({ signal: new AbortController().signal, pollMs: HOUR_MS });
    return { worker, receiver };
  }

  test('settles what another inbox keeps; the control, which does not listen, does so when it polls', async () => {
    const deaf = await pair('deaf', ({ listen: _, ...store }) => store);
    await deaf.worker.route.onCallback(paid('ORD-1'));
    await untilSettled(deaf.worker, 1);
    const { worker, receiver } = await pair('hearing');
    await until(async () => (await shop.listeners()) === 1);
    await receiver.route.onCallback(paid('ORD-1'));
    await untilSettled(worker, 1);
    await deaf.receiver.route.onCallback(paid('ORD-2'));
    // Kept later, and settled: by then, the control's own callback has been announced.
    for (const [index, reference] of ['ORD-2', 'ORD-3'].entries()) {
      await receiver.route.onCallback(paid(reference));
      await untilSettled(worker, index + 2);
    }
    expect(await deaf.receiver.counts()).toMatchObject({ paid: 1 });
    await deaf.worker.transaction(async () => undefined); // A worker looks after a call of its own.
    await untilSettled(deaf.worker, 2);
    await worker.close();
    await until(async () => (await shop.listeners()) === 0);
  });
});

/** A hang is ended by the test's own deadline. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(5);
}

function untilSettled<Tx>(inbox: Inbox<Tx>, count: number): Promise<void> {
  return until(async () => (await inbox.counts()).paid === count);
}

/** A handler brings PostgreSQL down: the start of its attempt was not on the disk, and still counts (threat A77). */
import { startPostgres } from '@payment-service/servers/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { order } from '../support/shop.ts';
import { startWork, until, untilDone } from '../support/until.ts';

const ATTEMPTS = 4;

test.each([
  [1, ATTEMPTS],
  // Until an attempt is counted, the other worker may start the payment before that.
  [2, ATTEMPTS + 10],
])(
  'threat A77: with %i workers, a payment whose handler ends PostgreSQL each time is dead after its attempts',
  async (workers, most) => {
    // A commit that does not wait for the disk is lost, unless another one is synced after it.
    const server = await startPostgres({ wal_writer_delay: '10s' });
    onTestFinished(() => server.stop());
    const retry = { attempts: ATTEMPTS, firstDelayMs: 10, longestDelayMs: 10 };
    const shop = poolShop({ server: server.url, inbox: { retry } });
    const inboxes = [shop.inbox, ...Array.from({ length: workers - 1 }, () => shop.open({ retry }))];
    let crashes = 0;
    let down: Promise<void> | undefined;
    for (const inbox of inboxes)
      inbox.handle('paid', async () => {
        crashes += 1;
        down ??= server.kill('everything').then(() => server.restart());
        await down;
        down = undefined;
        throw new Error('the server ended');
      });
    await order(shop.inbox, 'ORD-1');
    const stops = inboxes.map((inbox) => startWork(inbox));
    const { transitionId } = paid('ORD-1', 500);
    const state = async () => (await shop.inbox.report(transitionId))?.state;
    await untilDone(() => until(async () => (await state()) === 'dead'));
    for (const stop of stops) await stop();
    expect(await shop.inbox.report(transitionId)).toMatchObject({
      reason: 'attempts_used_up',
      attempts: ATTEMPTS,
    });
    expect(crashes).toBeGreaterThanOrEqual(ATTEMPTS);
    expect(crashes).toBeLessThanOrEqual(most);
  },
);

import { createInbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Pair } from '../../src/failovers/pair.ts';
import { withClient } from '../../src/load/postgres.ts';
import { plainPayment } from '../support/plain-payment.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start(true);
  await pair.addStandby();
});
afterAll(() => pair.stop());

test('a commit whose wait for the standby is cancelled is not acknowledged', async () => {
  const pool = new pg.Pool({ connectionString: pair.primaryUrl });
  pool.on('error', () => undefined);
  const failures: string[] = [];
  const inbox = createInbox({
    store: postgres(pool),
    storeTimeoutMs: 60_000,
    onEvent: (event) => {
      if (event.name === 'callback.unavailable') failures.push(event.failure);
    },
  });
  onTestFinished(async () => {
    await inbox.close();
    await pool.end();
  });
  await inbox.ready();
  const { callback } = plainPayment(1);
  pair.stallStandby();
  const received = inbox.receive(callback).then(
    () => 'acknowledged',
    () => 'refused',
  );
  await withClient(pair.primaryUrl, async (client) => {
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
    await expect.poll(async () => (await client.query(cancel)).rowCount).toBe(1);
    expect(await received).toBe('refused');
    expect(failures).toEqual(['STANDBY_WAIT_CANCELLED']);
    // PostgreSQL itself calls it a commit: without a look at its notice, this would have been acknowledged.
    expect((await client.query('select 1 from payment_inbox.transition')).rowCount).toBe(1);
  });
  await pair.failOver();
  await withClient(pair.primaryUrl, async (client) => {
    expect((await client.query('select 1 from payment_inbox.transition')).rowCount).toBe(0);
  });
});

import { UnavailableError } from '@payment-service/core';
import { createInbox, type Inbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Pair } from '../../src/failovers/pair.ts';
import { plainPayment } from '../support/plain-payment.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start(true);
  await pair.addStandby();
});
afterAll(() => pair.stop());

test('a standby serves the views of the operator, and nothing else', async () => {
  const { callback, expectation } = plainPayment(1);
  const primary = openInbox(pair.primaryUrl);
  await primary.expect({ ...expectation, deadline: new Date(0) });
  await primary.receive(callback);

  const standby = openInbox(pair.standbyUrl);
  // The standby has it on its disk when the primary answers, and shows it a moment later.
  await expect.poll(async () => (await standby.list()).length).toBe(1);
  const [listed] = await standby.list();
  expect(listed).toMatchObject({
    state: 'pending',
    signed: { merchant_reference: expectation.merchant_reference },
  });
  expect((await standby.show(listed?.transitionId ?? ''))?.bodies).toHaveLength(1);
  expect((await standby.stats()).states.pending).toBe(1);
  expect(await standby.overdue()).toHaveLength(1);

  expect(await standby.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
  await expect(standby.receive(callback)).rejects.toThrow(UnavailableError);
  await expect(standby.expect(expectation)).rejects.toThrow('read-only');
  await expect(standby.retry(listed?.transitionId ?? '', { by: 'dana', note: 'again' })).rejects.toThrow(
    'read-only',
  );
});

test('a closed inbox serves no view of a standby either', async () => {
  const standby = openInbox(pair.standbyUrl);
  await standby.stats();
  await standby.close();
  await expect(standby.stats()).rejects.toThrow('closed');
});

function openInbox(url: string | undefined): Inbox<pg.PoolClient> {
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const inbox = createInbox({ store: postgres(pool) });
  onTestFinished(async () => {
    await inbox.close();
    await pool.end();
  });
  return inbox;
}

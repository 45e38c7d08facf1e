import { ConfigurationError, UnavailableError } from '@payment-service/core';
import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { callback, paid } from './support/callbacks.ts';
import { newMerchant } from './support/merchant.ts';
import { newShop, ORDER } from './support/shop.ts';
import { signal, until, untilDone } from './support/until.ts';
import { startWork, workOff } from './support/working.ts';

/** A session of the test's own. */
async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

it('two receivers that count the same bodies do not wait for each other', async () => {
  const merchant = await newMerchant('postgres');
  const [one, other] = [merchant.open(), merchant.open()];
  const bodies = Array.from({ length: 8 }, (_each, index) => paid('ORD-1', index + 1));
  for (const body of bodies) await one.receive(body);
  await other.ready();
  const repeated = [...bodies, ...bodies, ...bodies];
  for (let round = 0; round < 60; round += 1) {
    await Promise.all([
      ...repeated.map((body) => one.receive(body)),
      ...repeated.toReversed().map((body) => other.receive(body)),
    ]);
  }
  expect(await one.list()).toMatchObject([{ deliveries: 8 + 60 * 48, bodyCount: 8 }]);
});

it('prune() passes over what comes again at this moment', async () => {
  const merchant = await newMerchant('postgres');
  const inbox = merchant.open();
  const all = Array.from({ length: 200 }, (_each, index) => paid(`ORD-${index}`, 1));
  await Promise.all(all.map((each) => inbox.receive(each)));
  await merchant.query(`update ${merchant.table('transition')} set state = 'unhandled'`);
  const shuffled = all.toSorted((one, two) => (one.transitionId < two.transitionId ? 1 : -1));
  for (let round = 0; round < 15; round += 1) {
    await merchant.query(`update ${merchant.table('body')} set last_at = 1, body = 'x'`);
    await Promise.all([inbox.prune(), ...shuffled.map((each) => inbox.receive(each))]);
  }
  expect(await inbox.list({ limit: 1 })).toMatchObject([{ deliveries: 16 }]);
});

it('thousands of due transitions of one reference take one lock of those who look for work, not one each', async () => {
  const merchant = await newMerchant('postgres');
  const inbox = merchant.open();
  const donations = Array.from({ length: 300 }, (_each, index) =>
    callback({ merchant_reference: 'GIFT', internal_reference: `I-${index}`, transaction_status: 'FAILED' }),
  );
  await Promise.all(donations.map((donation) => inbox.receive(donation)));
  const mayEnd = signal();
  let running = 0;
  inbox.handle(
    async () => {
      running += 1;
      await mayEnd.promise;
    },
    { statuses: ['FAILED'] },
  );
  const watcher = await connected();
  // Those of this file's database that are held by a session of this inbox.
  const locks = async (): Promise<number> => {
    const { rows } = await watcher.query<{ most: number }>(
      `select coalesce(max(n), 0)::int as most from (
         select count(*) as n from pg_locks l join pg_stat_activity a using (pid)
         where l.locktype = 'advisory' and a.query like '%' || $1 || '%' group by pid) held`,
      [merchant.table('claim')],
    );
    return rows[0]?.most ?? 0;
  };
  const stop = startWork(inbox, { concurrency: 4 });
  await until(() => running === 1);
  let most = 0;
  for (let look = 0; look < 50; look += 1) most = Math.max(most, await locks());
  mayEnd.give();
  await stop();
  expect(most).toBeLessThan(10);
});

it('who passes over a busy transition keeps nobody from others of its reference', async () => {
  const inbox = (await newMerchant('postgres')).open();
  const failed = (merchant_reference: string, internal_reference: string): Promise<void> =>
    inbox.receive(callback({ merchant_reference, internal_reference, transaction_status: 'FAILED' }));
  await failed('ORD-1', 'INT-SLOW');
  await failed('ORD-2', 'INT-SLOW');
  await failed('ORD-3', 'INT-SLOW-TOO');
  await failed('ORD-2', 'INT-QUICK');
  const mayEnd = signal();
  const ran: string[] = [];
  inbox.handle(
    async ({ signed }) => {
      ran.push(signed.internal_reference);
      if (signed.internal_reference !== 'INT-QUICK') await mayEnd.promise;
    },
    { statuses: ['FAILED'] },
  );
  const stop = startWork(inbox, { concurrency: 3 });
  await until(() => ran.length === 3);
  expect(ran.toSorted()).toEqual(['INT-QUICK', 'INT-SLOW', 'INT-SLOW-TOO']);
  mayEnd.give();
  await stop();
});

it.each(['repeatable read', 'serializable'])('expect() with a tx refuses a snapshot: %s', async (level) => {
  const { merchant, inbox } = await newShop('postgres');
  await inbox.receive(paid('ORD-1', 500));
  const client = await connected();
  await client.query(`begin isolation level ${level}`);
  const refused = await inbox.expect(ORDER, { tx: client }).catch((error: unknown) => error);
  await client.query('rollback');
  expect(refused).toBeInstanceOf(ConfigurationError);
  expect(refused).toMatchObject({ option: 'tx', message: expect.stringContaining('READ COMMITTED') });
  await client.query('begin isolation level read committed');
  await inbox.expect(ORDER, { tx: client });
  await client.query('commit');
  await workOff(inbox);
  expect(await merchant.credits()).toHaveLength(1);
});

it('another comparison counts although the handler runs already', async () => {
  const merchant = await newMerchant('postgres');
  const inbox = merchant.open();
  const [isRunning, mayEnd] = [signal(), signal()];
  inbox.handle(async ({ tx, signed, settled }) => {
    await merchant.credit(tx, signed.merchant_reference, settled.amount);
    isRunning.give();
    await mayEnd.promise;
  });
  await inbox.expect({ ...ORDER, compare: 'request' });
  await inbox.receive(paid('ORD-1', 500, { transaction_amount: 4 }));
  const stop = startWork(inbox);
  await isRunning.promise;
  await inbox.expect({ ...ORDER, compare: 'both' });
  mayEnd.give();
  await until(async () => (await inbox.list())[0]?.state !== 'pending');
  await stop();
  await merchant.clock.advance(60_000);
  await workOff(inbox);
  expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
  expect(await merchant.credits()).toEqual([]);
});

it('the server gives up waiting when the sender is told to come back', async () => {
  const merchant = await newMerchant('postgres');
  const inbox = merchant.open({ storeTimeoutMs: 300 });
  await inbox.ready();
  const locker = await connected();
  await locker.query(`begin; lock table ${merchant.table('transition')} in share mode`);
  for (let index = 0; index < 8; index += 1) {
    await expect(inbox.receive(paid(`ORD-${index}`, 1))).rejects.toThrow(UnavailableError);
  }
  const { rows } = await locker.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'`,
    [merchant.table('receive')],
  );
  expect(rows[0]?.n).toBeLessThan(3);
  await locker.query('rollback');
  await untilDone(() => inbox.receive(paid('ORD-1', 1)));
});

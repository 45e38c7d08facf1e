import { createInbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pair } from '../../src/failovers/pair.ts';
import { withClient } from '../../src/load/postgres.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start(false);
  await withClient(pair.primaryUrl, async (client) => {
    await client.query("create role shop login password 'shop'");
    await client.query('grant create on database postgres to shop');
  });
});
afterAll(() => pair.stop());

test('a start tells that the standby is asynchronous, to a role without any rights, too', async () => {
  expect(await warningsAtStart(pair.primaryUrl)).toEqual([]);
  await pair.addStandby();
  expect(await warningsAtStart(pair.primaryUrl)).toEqual(['ASYNCHRONOUS_STANDBY']);
  expect(await warningsAtStart(asShop(pair.primaryUrl))).toEqual(['ASYNCHRONOUS_STANDBY']);

  await withClient(pair.primaryUrl, async (client) => {
    await client.query("alter system set synchronous_standby_names = '*'");
    await client.query('select pg_reload_conf()');
  });
  await expect.poll(() => warningsAtStart(pair.primaryUrl)).toEqual([]);
  expect(await warningsAtStart(asShop(pair.primaryUrl))).toEqual([]);
  const local = new URL(pair.primaryUrl);
  local.searchParams.set('options', '-c synchronous_commit=local');
  expect(await warningsAtStart(local.href)).toEqual(['ASYNCHRONOUS_STANDBY']);
});

/** Codes of the warnings that an inbox gives when it starts. */
async function warningsAtStart(url: string): Promise<unknown[]> {
  const codes: unknown[] = [];
  const onWarning = (warning: Error): unknown => codes.push(Reflect.get(warning, 'code'));
  process.on('warning', onWarning);
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const inbox = createInbox({ store: postgres(pool, { schema: `of_${new URL(url).username}` }) });
  try {
    await inbox.ready();
    // Warnings are told in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    return codes;
  } finally {
    process.off('warning', onWarning);
    await inbox.close();
    await pool.end();
  }
}

function asShop(url: string): string {
  const own = new URL(url);
  [own.username, own.password] = ['shop', 'shop'];
  return own.href;
}

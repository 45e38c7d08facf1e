import { UnavailableError } from '@payment-service/core';
import { createInbox, type Inbox, type InboxEvent, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freshCallbacks, verified } from '../../src/load/callbacks.ts';
import { withClient } from '../../src/load/postgres.ts';
import { cleanUp } from '../../src/measure/program.ts';
import { Pair } from '../../src/topology/pair.ts';

const [callback = expect.unreachable()] = verified(freshCallbacks('standby', 1));
const expectation = { merchant_reference: 'ORD-standby-0', currency: 'UGX', amount: '500' };

/** Shared by all tests: each chooses whether commits wait for the standby, and has its own tables. */
let pair: Pair;
let warningsWithoutStandby: unknown[];

beforeAll(async () => {
  pair = await Pair.start(false);
  await withClient(pair.primary.url, async (client) => {
    await client.query("create role shop login password 'shop'");
    await client.query('grant create on database postgres to shop');
  });
  warningsWithoutStandby = await warningsAtStart(pair.primary.url);
  await pair.whole();
});
afterAll(cleanUp);

test('a standby serves the views of the operator, and nothing else', async () => {
  await waitForStandby(true);
  const primary = openInbox(pair.primary.url);
  await primary.expect({ ...expectation, deadline: new Date(0) });
  await primary.route.onCallback(callback);

  const standby = openInbox(pair.standby?.url);
  // The standby has it on disk when the primary responds, and shows it a moment later.
  await expect.poll(async () => (await standby.reports()).length).toBe(1);
  const [listed] = await standby.reports();
  expect(listed).toMatchObject({
    state: 'pending',
    signed: { merchant_reference: expectation.merchant_reference },
  });
  expect((await standby.report(listed?.transitionId ?? ''))?.bodies).toHaveLength(1);
  expect((await statesOf(standby)).pending).toBe(1);
  expect(await standby.overdue()).toHaveLength(1);

  expect(await standby.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
  await expect(standby.route.onCallback(callback)).rejects.toThrow(UnavailableError);
  await expect(standby.expect(expectation)).rejects.toThrow('read-only');
  await expect(
    standby.retry({ transitionId: '', revision: '', ...listed }, { by: 'dana', note: 'again' }),
  ).rejects.toThrow('read-only');
  await standby.close();
  await expect(standby.stats()).rejects.toThrow('closed');
});

test('a start tells that the standby is asynchronous, to a role without any rights, too', async () => {
  expect(warningsWithoutStandby).toEqual([]);
  await waitForStandby(false);
  expect(await warningsAtStart(pair.primary.url)).toEqual(['ASYNCHRONOUS_STANDBY']);
  expect(await warningsAtStart(asShop(pair.primary.url))).toEqual(['ASYNCHRONOUS_STANDBY']);

  await waitForStandby(true);
  expect(await warningsAtStart(pair.primary.url)).toEqual([]);
  expect(await warningsAtStart(asShop(pair.primary.url))).toEqual([]);
  const local = new URL(pair.primary.url);
  local.searchParams.set('options', '-c synchronous_commit=local');
  expect(await warningsAtStart(local.href)).toEqual(['ASYNCHRONOUS_STANDBY']);
});

test('a commit whose wait for the standby is cancelled is not acknowledged', async () => {
  await waitForStandby(true);
  const failures: string[] = [];
  const onEvent = (event: InboxEvent): void => {
    if (event.name === 'callback.unavailable') failures.push(event.failure);
  };
  const inbox = openInbox(pair.primary.url, { schema: 'cancelled', onEvent });
  await inbox.ready();
  const kept = 'select 1 from cancelled.transition';
  await withClient(pair.standby?.url ?? '', async (standby) => {
    await expect
      .poll(() =>
        standby.query(kept).then(
          ({ rowCount }) => rowCount,
          () => 'not yet there',
        ),
      )
      .toBe(0);
    pair.holdReplication();
    const received = inbox.route.onCallback(callback).then(
      () => 'acknowledged',
      () => 'refused',
    );
    await withClient(pair.primary.url, async (client) => {
      const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
      await expect.poll(async () => (await client.query(cancel)).rowCount).toBe(1);
      expect(await received).toBe('refused');
      expect(failures).toEqual(['STANDBY_WAIT_CANCELLED']);
      // PostgreSQL itself reports a commit: if its notice were ignored, this would have been acknowledged.
      expect((await client.query(kept)).rowCount).toBe(1);
    });
    // It would be lost with the primary.
    expect((await standby.query(kept)).rowCount).toBe(0);
  });
  pair.releaseStandby();
});

async function waitForStandby(isSynchronous: boolean): Promise<void> {
  await withClient(pair.primary.url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${isSynchronous ? '*' : ''}'`);
    await client.query('select pg_reload_conf()');
    const states = 'select sync_state as state from pg_stat_replication';
    const state = async () => (await client.query(states)).rows[0]?.state;
    await expect.poll(state).toBe(isSynchronous ? 'sync' : 'async');
  });
}

function openInbox(
  url: string | undefined,
  { schema, onEvent }: { schema?: string; onEvent?: (event: InboxEvent) => void } = {},
): Inbox<pg.PoolClient> {
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const inbox = createInbox({ store: postgres(pool, { schema }), storeTimeoutMs: 60_000, onEvent });
  onTestFinished(async () => {
    await inbox.close();
    await pool.end();
  });
  return inbox;
}

/** The codes of the warnings that an inbox gives on start. */
async function warningsAtStart(url: string): Promise<unknown[]> {
  const codes: unknown[] = [];
  const onWarning = (warning: Error): unknown => codes.push(Reflect.get(warning, 'code'));
  process.on('warning', onWarning);
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const inbox = createInbox({ store: postgres(pool, { schema: `of_${new URL(url).username}` }) });
  try {
    await inbox.ready();
    // Warnings are emitted in the next turn.
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

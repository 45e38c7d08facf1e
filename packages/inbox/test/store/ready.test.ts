import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnavailableError } from '@payment-service/core';
import { expect, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { callback, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { limitedRole } from '../support/limited-role.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { statesOf } from '../support/until.ts';

const CHANGE = 'select, insert, update, delete';
const GRANT =
  "Grant the role of this program the rights in the last lines of the output of 'payment-service-inbox sql'";
/** To a process, a file that may not grow is like a full disk. */
const limitedTo = (blocks: string) => ['sh', '-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', blocks];
const AWAY = { ok: false, problems: ['store_unavailable'], oldestDueSeconds: undefined };

test('ready(), health() and receive() fail where no callback can be kept, and say what to do', async () => {
  const { schema, inbox } = poolShop();
  await inbox.ready();
  for (const [pool, code, said] of [
    [{ options: '-c default_transaction_read_only=on' }, '25006', 'Connect to the primary'],
    [await limitedRole(schema, 'select'), '42501', GRANT],
    [await limitedRole(schema, CHANGE, `insert on ${schema}.body`), '42501', GRANT],
    [{ connectionString: 'postgres://x@127.0.0.1:1/x' }, 'ECONNREFUSED', ''],
  ] as const) {
    const { inbox: other } = poolShop({ schema, pool });
    await expect(other.ready()).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
    expect(await other.health()).toMatchObject(AWAY);
    await expect(other.route.onCallback(callback())).rejects.toThrow(UnavailableError);
    expect(await inbox.health()).toMatchObject({ ok: true, problems: [] });
  }
  const { inbox: other } = poolShop({ schema: `${schema}_other`, pool: await limitedRole(schema, CHANGE) });
  const message = expect.stringContaining(
    "Run 'payment-service-inbox migrate' with a role that may create tables",
  );
  await expect(other.ready()).rejects.toMatchObject({ code: '42501', message });
});

test('health() fails once the connections only read, after a start that was good', async () => {
  const { inbox, pool, open } = poolShop({ pool: { max: 1 } });
  await inbox.ready();
  await pool.query('set default_transaction_read_only = on');
  expect(await inbox.health()).toMatchObject(AWAY);
  // An inbox that starts meanwhile can be read, and is ready later.
  const other = open();
  await expect(other.ready()).rejects.toMatchObject({ code: '25006' });
  expect(await other.reports()).toEqual([]);
  await pool.query('set default_transaction_read_only = off');
  for (const each of [inbox, other]) expect(await each.health()).toMatchObject({ ok: true });
});

test('ready() and health() fail when the path of the spool cannot be used, although callbacks are still stored', async () => {
  const spool = join(temporaryFolder(), 'spool');
  expect(await poolShop({ inbox: { spool } }).inbox.health()).toMatchObject({ ok: true, spooled: 0 });
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const { inbox: other } = poolShop({ inbox: { spool: file } });
  await expect(other.ready()).rejects.toMatchObject({ option: 'spool' });
  const problems = ['spool_unavailable'];
  expect(await other.health()).toMatchObject({ ok: false, problems, spooled: undefined });
  await other.route.onCallback(callback());
});

test.each([
  ['full', '128', 'ready\nhealth store_unavailable\nUnavailableError\n'],
  ['not full (control)', 'unlimited', 'ready\nhealth\nkept\n'],
])('threat A52: when the disk of the database is %s', async (_, blocks, output) => {
  const path = join(temporaryFolder(), 'x.db');
  const made = createInbox({ store: sqlite(path) });
  await made.ready();
  await made.close();
  expect(await startChild('full-disk.ts', [path], limitedTo(blocks)).ended).toMatchObject({ output });
});

test.each(ENGINES)(
  'threat A52: health() commits a write on %s, and rolling it back is not enough',
  async (engine) => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const beats = async (): Promise<number> =>
      Number((await merchant.query(`select beats from ${merchant.table('pulse')}`))[0]?.['beats']);
    await inbox.ready();
    const before = await beats();
    expect(before).toBeGreaterThan(0);
    await inbox.health();
    expect(await beats()).toBe(before + 1);
    expect((await statesOf(inbox)).pending).toBe(0);
  },
);

test('no error of the inbox holds a body, a header or a key', async () => {
  const { inbox, direct, schema } = poolShop();
  await inbox.ready();
  // PostgreSQL's own error for this quotes the whole row.
  await direct.query(`alter table ${schema}.body add constraint never check (length(content) < 3)`);
  const error = await inbox.route
    .onCallback(callback({ customer_name: 'SECRET' }))
    .catch((thrown: unknown) => thrown);
  const inspected = JSON.stringify([String(error), Object(error).stack, Object(error).cause, error]);
  expect(inspected).toContain('23514');
  const hex = Buffer.from('SECRET').toString('hex');
  for (const secret of ['SECRET', hex, SIGNING_KEY, signedText().signature, 'ORD-1001'])
    expect(inspected).not.toContain(secret);
});

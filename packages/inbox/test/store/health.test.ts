import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnavailableError } from '@payment-service/core';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, postgres } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { limitedRole } from '../support/limited-role.ts';
import { newMerchant } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { silentProxy } from '../support/silent-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { unreachable } from '../support/unreachable.ts';
import { signal, until } from '../support/until.ts';

const AWAY = { ok: false, problems: ['store_unavailable'], oldestDueSeconds: undefined };

describe('ready() and health() fail where no callback could be kept', () => {
  it('on connections that only read', async () => {
    const { schema, inbox } = poolShop();
    await inbox.ready();
    const reading = poolShop({ options: '-c default_transaction_read_only=on' }).pool;
    const other = createInbox({ store: postgres(reading, { schema }) });
    onTestFinished(() => other.close());
    await expect(other.ready()).rejects.toMatchObject({ code: '25006' });
    expect(await other.health()).toMatchObject(AWAY);
    await expect(other.receive(callback())).rejects.toThrow(UnavailableError);
    expect(await inbox.health()).toMatchObject({ ok: true, problems: [] });
  });

  it('once the connections only read, after a start that was good', async () => {
    const { inbox, pool } = poolShop({ max: 1 });
    await inbox.ready();
    await pool.query('set default_transaction_read_only = on');
    expect(await inbox.health()).toMatchObject(AWAY);
    await pool.query('set default_transaction_read_only = off');
    expect(await inbox.health()).toMatchObject({ ok: true });
  });

  it('for a role that may only select', async () => {
    const { schema, inbox } = poolShop();
    await inbox.ready();
    const { pool } = await limitedRole(schema, 'select');
    const other = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(() => other.close());
    await expect(other.ready()).rejects.toMatchObject({ code: '42501' });
    expect(await other.health()).toMatchObject(AWAY);
    await expect(other.receive(callback())).rejects.toThrow(UnavailableError);
  });

  it('for a role that may write all but one table', async () => {
    const { schema, inbox } = poolShop();
    await inbox.ready();
    const { pool, admin, role } = await limitedRole(schema, 'select, insert, update, delete');
    await admin.query(`revoke insert on ${schema}.body from ${role}`);
    const other = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(() => other.close());
    await expect(other.ready()).rejects.toMatchObject({ code: '42501' });
    await admin.query(`grant insert on ${schema}.body to ${role}`);
    await other.ready();
  });

  it('when no server is there', async () => {
    const inbox = createInbox({ store: postgres(unreachable(inject('postgresUrl'))) });
    onTestFinished(() => inbox.close());
    await expect(inbox.ready()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await inbox.health()).toMatchObject(AWAY);
  });

  it('when the server has fallen silent, and health() answers all the same', async () => {
    const proxy = await silentProxy(inject('postgresUrl'));
    const { inbox } = poolShop({ connectionString: proxy.url, max: 1 }, { storeTimeoutMs: 200 });
    await until(async () => (await inbox.health()).ok);
    onTestFinished(() => proxy.end());
    proxy.silence();
    expect(await inbox.health()).toMatchObject(AWAY);
  });

  it('when the path of the spool cannot be used', async () => {
    const spool = join(temporaryFolder(), 'spool');
    const { inbox } = poolShop({}, { spool });
    expect(await inbox.health()).toMatchObject({ ok: true, spooled: 0 });
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const { inbox: other } = poolShop({}, { spool: file });
    await expect(other.ready()).rejects.toMatchObject({ option: 'spool' });
    const problems = ['spool_unavailable'];
    expect(await other.health()).toMatchObject({ ok: false, problems, spooled: undefined });
    // The store is there, and the spool is only for when it is not.
    await other.receive(callback());
  });

  it.each([
    ['full', '0', 'ready EFBIG, health spool_unavailable'],
    ['not full (control)', 'unlimited', 'ready, health'],
  ])('when the disk of the spool is %s', async (_name, blocks, said) => {
    const { schema, inbox } = poolShop();
    await inbox.ready();
    const program = join(import.meta.dirname, '../support/programs/spool-health.ts');
    const values = [inject('postgresUrl'), schema, join(temporaryFolder(), 'spool')];
    // To the process, a file that may not grow is as a disk that is full.
    const script = 'ulimit -f "$1"; shift; exec "$@"';
    const child = spawn('sh', ['-c', script, 'sh', blocks, process.execPath, program, ...values], {
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    expect(output.trim()).toBe(said);
  });
});

it('a check keeps nothing, and one whose machine vanished in the middle of it keeps no other waiting', async () => {
  const { inbox, pool, open } = poolShop({ max: 3 }, { storeTimeoutMs: 60_000 });
  await inbox.ready();
  // A receiver that stands still between the last statement of its check and the rollback.
  const isHeld = signal();
  pool.on('connect', (client) => {
    const query = client.query.bind(client);
    const hold = (...values: unknown[]): unknown => {
      if (values[0] !== 'rollback') return Reflect.apply(query, client, values);
      isHeld.give();
      return mayEnd.promise.then(() => query('rollback'));
    };
    Object.assign(client, { query: hold });
  });
  const mayEnd = signal();
  (await pool.connect()).release(true);
  const held = inbox.health();
  await isHeld.promise;
  pool.removeAllListeners('connect');
  expect(await open().health()).toMatchObject({ ok: true });
  mayEnd.give();
  expect(await held).toMatchObject({ ok: true });
  expect((await inbox.stats()).states.pending).toBe(0);
});

it('health() tells how long the oldest due one waits, and not of one that waits for its time', async () => {
  const merchant = await newMerchant('sqlite');
  const inbox = merchant.open();
  await inbox.receive(paid('A', 500));
  expect(await inbox.health()).toMatchObject({ ok: true });
  await merchant.clock.advance(61_000);
  const health = await inbox.health();
  expect(health).toMatchObject({ ok: false, problems: ['oldest_due_too_old'] });
  expect(health.oldestDueSeconds).toBeGreaterThanOrEqual(61);
  expect(await inbox.health({ maxPendingAgeSeconds: 3600 })).toMatchObject({ ok: true });
  await merchant.clock.advance(-120_000);
  expect(await inbox.health()).toMatchObject({ ok: true, oldestDueSeconds: 0 });
});

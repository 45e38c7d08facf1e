/** The verbs about tables: what a DBA or a deploy runs. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn, runCommand } from '../support/command.ts';
import { limitedRole } from '../support/limited-role.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe.each(ENGINES)('on %s', (engine) => {
  test('migrate creates the tables once and reports it, and the program finds them ready', async () => {
    const merchant = await newMerchant(engine, 'without tables');
    const { run, json } = commandOn(merchant);
    expect((await run('status')).code).toBe(3);
    expect(await json('status')).toMatchObject({ state: 'none', program: 1 });
    const stdout = 'The tables were created, with version 1.\n';
    expect(await run('migrate')).toEqual({ code: 0, stdout, stderr: '' });
    expect(await json('migrate')).toEqual({ from: 1, to: 1 });
    expect((await run('migrate')).stdout).toContain('Nothing to do');
    const after = await run('status');
    expect(after).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tables +version 1$/m) });
    expect(after.stdout).toMatch(engine === 'postgres' ? /PostgreSQL \d+/ : /SQLite 3\.\d+/);
    await merchant.open().receive(paid('ORD-1', 500));
  });

  test('status compares older and newer tables, and other verbs refuse tables that they cannot use', async () => {
    const merchant = await newMerchant(engine);
    const { run } = commandOn(merchant);
    const state = async (values: string) => {
      await merchant.query(`update ${merchant.table('migration')} set ${values}`);
      const { code, stdout, stderr } = await run('status', '--json');
      const used = await run('ls');
      return [code, stdout && JSON.parse(stdout).state, stderr, used.code, used.stderr];
    };
    const refused = expect.stringMatching(/'migrate' changes tables.*ready\(\).*'sql'/);
    expect(await state('version = 0')).toEqual([3, 'older', '', 1, refused]);
    expect(await state('version = 2')).toEqual([0, 'newer', '', 0, '']);
    const update = expect.stringContaining('Update this program');
    expect(await state('compatible_with = 2')).toEqual([1, '', update, 1, update]);
    expect(await state('version = 1, compatible_with = 1')).toEqual([0, 'current', '', 0, '']);
  });

  test('expect wakes waiting transitions, refuses another amount without --replace, and overdue lists it', async () => {
    const merchant = await newMerchant(engine);
    const { run, json } = commandOn(merchant);
    expect(await run('overdue')).toMatchObject({ code: 0, stdout: 'No expectation is past its deadline.\n' });
    const order = ['--reference', 'ORD-1', '--currency', 'UGX', '--deadline', '2026-01-31'];
    const expecting = (amount: string, ...more: string[]) =>
      run('expect', ...order, '--amount', amount, ...more);
    expect(await expecting('500')).toEqual({ code: 0, stdout: 'Expected.\n', stderr: '' });
    const stderr = expect.stringContaining('replace');
    expect(await expecting('700')).toMatchObject({ code: 1, stderr });
    const replaced = await expecting('700.00', '--replace', '--compare', 'request', '--json');
    expect(JSON.parse(replaced.stdout)).toMatchObject({ expected: { amount: '700.00', compare: 'request' } });
    await expect(merchant.open().expect(ORDER)).rejects.toThrow('replace');
    const overdue = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '700' };
    expect(await json('overdue')).toEqual([{ ...overdue, deadline: '2026-01-31T00:00:00.000Z' }]);
    const stdout = expect.stringMatching(/ORD-1 +700 UGX +2026-01-31T/);
    expect(await run('overdue')).toMatchObject({ code: 3, stdout });
    for (const amount of ['0', 'free'])
      expect(await expecting(amount)).toMatchObject({ code: 2, stderr: expect.stringContaining('amount') });
  });
});

test('a DBA runs the output of sql on PostgreSQL, and a role with the grants that it names is ready', async () => {
  const { schema, direct } = poolShop();
  const { code, stdout } = await runCommand(['sql', '--schema', schema]);
  expect(code).toBe(0);
  const rights = 'select, insert, update, delete';
  expect(stdout).toContain(`-- grant ${rights} on all tables in schema ${schema} to <role>;`);
  await direct.query(stdout);
  const { inbox } = poolShop({ schema, pool: await limitedRole(schema, rights) });
  await inbox.ready();
  await inbox.receive(paid('ORD-1', 500));
  const env = { DATABASE_URL: inject('postgresUrl') };
  expect((await runCommand(['migrate', '--schema', schema], env)).stdout).toContain('Nothing to do');
  // Control: without its rights, the same role is not.
  const other = poolShop({ schema, pool: await limitedRole(schema, 'select') });
  await expect(other.inbox.ready()).rejects.toMatchObject({ code: '42501' });
});

test('the output of sql creates the tables in a SQLite file, and --from leaves out existing versions', async () => {
  const path = join(temporaryFolder(), 'dba.db');
  const { stdout } = await runCommand(['sql', '--database', path]);
  expect(existsSync(path)).toBe(false);
  const database = new DatabaseSync(path);
  database.exec(stdout);
  database.close();
  expect(await runCommand(['status', '--database', path])).toMatchObject({ code: 0 });
  const inbox = createInbox({ store: sqlite(path) });
  onTestFinished(() => inbox.close());
  await inbox.receive(paid('ORD-1', 500));
  expect(JSON.parse((await runCommand(['sql', '--dialect', 'sqlite', '--json'])).stdout)).toHaveLength(1);
  expect(JSON.parse((await runCommand(['sql', '--from', '1', '--json'])).stdout)).toEqual([]);
});

test('migrate creates no database: a missing file stays missing, and another file stays unchanged', async () => {
  const missing = join(temporaryFolder(), 'missing.db');
  expect(await runCommand(['migrate', '--database', missing])).toMatchObject({ code: 1 });
  expect(existsSync(missing)).toBe(false);
  const other = join(temporaryFolder(), 'letter.txt');
  await writeFile(other, 'Dear customer, '.repeat(100));
  const stderr = expect.stringContaining('not a database');
  expect(await runCommand(['migrate', '--database', other])).toMatchObject({ code: 1, stderr });
});

describe('a password of DATABASE_URL is never printed', () => {
  test.each([
    ['postgres://shop:hunter2secret@127.0.0.1:1/shop', 'ECONNREFUSED'],
    ['postgres://shop:hunter2secret@no-such-host.invalid/shop', ''],
    ['postgres://shop:hunter/2secret@127.0.0.1:1/shop', ''],
    ['postgres://shop:hun?ter#2secret@127.0.0.1:1/shop', ''],
    ['postgres://shop:hunter2%2Fsecret@127.0.0.1:1/shop', 'ECONNREFUSED'],
    ['postgres://shop@127.0.0.1:1/shop?password=hunter2secret', 'ECONNREFUSED'],
    ['postgres:shop:hunter2secret', ''],
  ])('%s', async (DATABASE_URL, says) => {
    for (const verb of ['ls', 'status', 'migrate']) {
      const { code, stdout, stderr } = await runCommand([verb], { DATABASE_URL });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).not.toMatch(/hunter|hun\b|ter|2secret/);
      expect(stderr).toMatch(/^payment-service-inbox: .{10}/);
      expect(stderr).toContain(says);
    }
  });

  test('when the server refuses it', async () => {
    const url = new URL(inject('postgresUrl'));
    url.password = 'hunter2secret';
    const { code, stderr } = await runCommand(['ls'], { DATABASE_URL: url.href });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('authentication failed') });
    expect(stderr).not.toContain('hunter');
  });
});

/** payment-service-inbox doctor and health on partly broken servers: every check has a case that it finds, and a control. */

import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { placeOf } from '../../src/command/open-inbox.ts';
import { postgres } from '../../src/index.ts';
import { spoolOwner } from '../../src/intake/spool-file.ts';
import { paid } from '../support/callbacks.ts';
import { runCommand, SESSION } from '../support/command.ts';
import { type Diagnosed, runDoctor } from '../support/doctor.ts';
import { limitedRole } from '../support/limited-role.ts';
import { poolShop } from '../support/pool-shop.ts';
import { askFile, leftSpool } from '../support/test-spool.ts';
import { until } from '../support/until.ts';

const SERVER = inject('postgresUrl');
const CHANGE = 'select, insert, update, delete';

/** For a schema on the server of the whole run, or on another one. */
async function newPatient(server = SERVER) {
  const shop = poolShop({ server });
  await shop.inbox.ready();
  const doctor = (url: string | undefined = server, ...args: string[]): Promise<Diagnosed> =>
    runDoctor(['--schema', shop.schema, ...args], { DATABASE_URL: url });
  return { ...shop, doctor };
}

/** A connection of an administrator that ends with the test. */
async function connected(server: string, more: pg.ClientConfig & { replication?: string } = {}) {
  const client = new pg.Client({ connectionString: server, ...more });
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

const changed = (address: string, change: Partial<URL>): string =>
  Object.assign(new URL(address), change).href;

test.each<[string, string, RegExp]>([
  ['no server', changed(SERVER, { port: '1' }), /Probably no server runs/],
  ['an unknown host', changed(SERVER, { hostname: 'no-such-host.invalid' }), /host name/],
  ['another password', changed(SERVER, { password: 'hunter2secret' }), /password/],
  ['an unknown database', changed(SERVER, { pathname: '/no-such' }), /name of the database/],
  ['an address that is invalid', `${SERVER.slice(0, 11)}:hunter/2secret@x/`, /^Correct DATABASE_URL/],
])(
  'a database that cannot be reached by %s is one finding of doctor, and store_unavailable of health, without the password',
  async (_, DATABASE_URL, advice) => {
    const { names, todo, text } = await runDoctor([], { DATABASE_URL });
    expect(names).toEqual(['problem database']);
    expect(todo).toMatch(advice);
    const { code, stdout, stderr } = await runCommand(['health', '--json'], { DATABASE_URL });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({ ok: false, problems: ['store_unavailable'] });
    for (const secret of [new URL(SERVER).password, 'hunter', '2secret'])
      expect(text + stderr).not.toContain(secret);
  },
);

test('while the database does not answer, health counts what waits in the spool, and claims nothing about payments', async () => {
  const folder = await leftSpool(['A', 'B']);
  askFile(folder, 'update delivery set owner = ?', spoolOwner('', placeOf({})));
  const DATABASE_URL = changed(SERVER, { port: '1' });
  const { code, stdout } = await runCommand(['health', '--spool', folder], { DATABASE_URL });
  expect(stdout.split('\n')).toEqual([
    ...['store_unavailable', 'spool_not_drained', "Run 'doctor' for details."],
    ...['The payments could not be counted.', 'Callbacks in the spool: 2.', ''],
  ]);
  expect(code).toBe(3);
});

test('a role or a connection that may not select, write bodies, use the schema or write at all is found, and so is a pool that is too large or too small', async () => {
  const { schema, direct, doctor } = await newPatient();
  const roleWith = async (rights: string, except?: string): Promise<string> =>
    (await limitedRole(schema, rights, except)).connectionString ?? '';
  for (const [check, url] of [
    ['callback', await roleWith('select')],
    ['callback', await roleWith(CHANGE, `insert on ${schema}.body`)],
    ['tables', await roleWith(CHANGE, `usage on schema ${schema}`)],
    ['callback', changed(SERVER, { search: '?options=-c default_transaction_read_only=on' })],
  ] as const) {
    const { names, todo } = await doctor(url);
    expect(names).toEqual([`problem ${check}`]);
    expect(todo).toMatch(/^Grant the role|default_transaction_read_only = off/);
  }
  const url = await roleWith(CHANGE);
  const names = async (...args: string[]) => (await doctor(url, ...args)).names;
  expect(await names('--pool', '10', '--processes', '4')).toEqual([]);
  expect(await names('--pool', '150', '--processes', '2')).toEqual(['problem pool']);
  expect(await names('--pool', '2')).toEqual(['notice pool']);
  await direct.query(`alter role ${new URL(url).username} connection limit 5`);
  const seen = expect.stringContaining('at most 5');
  expect(await doctor(url, '--pool', '10')).toMatchObject({ names: ['problem pool'], seen });
});

test('handlers are probably slow when a worker listens and something has been due for long', async () => {
  // In its own database: in the shared one, the workers of concurrent tests listen.
  await (await connected(SERVER)).query('create database one_worker');
  const server = changed(SERVER, { pathname: '/one_worker' });
  const { inbox, direct, schema, doctor } = await newPatient(server);
  await inbox.route.onCallback(paid('ORD-1', 500));
  await direct.query(`update ${schema}.transition set next_at = next_at - 600000`);
  const says = async (): Promise<string> => {
    const { names, seen, todo } = await doctor();
    expect(names).toEqual(['problem worker']);
    return `${seen} ${todo}`;
  };
  expect(await says()).toMatch(
    / due for 60\d seconds[.] No worker was seen listening[.] Probably no process/,
  );
  await (await connected(server)).query(`listen payment_inbox -- another_${schema}.`);
  expect(await says()).toContain('Probably no process');
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void postgres(direct, { schema }).listen?.('', () => undefined, stop.signal);
  await until(async () => / A worker was seen listening[.] Probably handlers/.test(await says()));
});

describe('a server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ max_connections: '20' });
  });
  afterAll(() => server.stop());

  test(
    'with a setting that is off, standbys for which no commit waits, one for which each waits, another encoding or too few connections is found',
    SESSION,
    async () => {
      const { doctor } = await newPatient(server.url);
      const admin = await connected(server.url);
      await admin.query("set synchronous_commit = 'local'");
      /** As the administrator sets it; the first process reads the settings before it tells the others to do so. */
      const set = async (name: string, value?: string): Promise<void> => {
        await admin.query(
          value === undefined ? `alter system reset ${name}` : `alter system set ${name} = '${value}'`,
        );
        await until(async () => {
          await admin.query('select pg_reload_conf()');
          const { rows } = await admin.query('select reset_val, boot_val from pg_settings where name = $1', [
            name,
          ]);
          return rows[0]?.reset_val === (value ?? rows[0]?.boot_val);
        });
      };
      expect((await doctor()).names).toEqual([]); // Control.
      for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
        await set(name, 'off');
        const todo = expect.stringContaining(`Set ${name} = on`);
        expect(await doctor()).toMatchObject({ names: ['problem durability'], todo });
        await set(name);
      }
      const standby = await connected(server.url, { replication: 'true' });
      const connects = expect.stringMatching(/^Standbys are connected \(1\)/);
      expect(await doctor()).toMatchObject({ names: ['problem replication'], seen: connects });
      await standby.end();
      await set('synchronous_standby_names', 'standby_a');
      const waits = {
        names: ['problem replication', 'problem callback'],
        seen: expect.stringContaining('standby_a'),
      };
      expect(await doctor()).toMatchObject(waits);
      await set('synchronous_standby_names');
      expect((await doctor()).names).toEqual([]); // Control.
      await admin.query("create database plain encoding 'SQL_ASCII' template template0");
      const plain = await runDoctor([], { DATABASE_URL: changed(server.url, { pathname: '/plain' }) });
      const ascii = expect.stringContaining('SQL_ASCII');
      expect(plain).toMatchObject({ names: ['problem engine', 'problem tables'], seen: ascii });
      await Promise.all(Array.from({ length: 14 }, () => connected(server.url)));
      const used = expect.stringMatching(/^1\d connections are open, and this server allows 17\.$/);
      expect(await doctor()).toMatchObject({ names: ['problem connections'], seen: used });
    },
  );
});

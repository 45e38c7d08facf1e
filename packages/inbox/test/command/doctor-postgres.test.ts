/** payment-service-inbox doctor and health on partly broken servers: every check has a case that it finds, and a control. */
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { postgres } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { runCommand } from '../support/command.ts';
import { type Diagnosed, runDoctor } from '../support/doctor.ts';
import { limitedRole } from '../support/limited-role.ts';
import { poolShop } from '../support/pool-shop.ts';
import { deafProxy, poolerOf } from '../support/proxy.ts';
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
async function connected(
  server: string,
  more: pg.ClientConfig & { replication?: string } = {},
): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server, ...more });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The address with settings of its connections. */
function withSettings(address: string, settings: string): string {
  const url = new URL(address);
  url.searchParams.set('options', settings);
  return url.href;
}

const changed = (address: string, change: Partial<URL>): string =>
  Object.assign(new URL(address), change).href;

describe('a database that cannot be reached', () => {
  test.each<[string, string, RegExp]>([
    ['no server', changed(SERVER, { port: '1' }), /Probably no server runs/],
    ['an unknown host', changed(SERVER, { hostname: 'no-such-host.invalid' }), /host name/],
    ['another password', changed(SERVER, { password: 'hunter2secret' }), /password/],
    ['an unknown database', changed(SERVER, { pathname: '/no-such' }), /name of the database/],
    ['an address that is invalid', `${SERVER.slice(0, 11)}:hunter/2secret@x/`, /^Correct DATABASE_URL/],
  ])(
    'by %s is one finding of doctor, and store_unavailable of health, without the password',
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
});

describe('a role or a connection that may not', () => {
  const roleOf = async (...[schema, rights, except]: Parameters<typeof limitedRole>): Promise<string> =>
    (await limitedRole(schema, rights, except)).connectionString ?? '';
  const readOnly = withSettings(SERVER, '-c default_transaction_read_only=on');

  test.each<[string, string, (schema: string) => Promise<string>]>([
    ['select', 'callback', (schema) => roleOf(schema, 'select')],
    ['write bodies', 'callback', (schema) => roleOf(schema, CHANGE, `insert on ${schema}.body`)],
    ['use the schema', 'tables', (schema) => roleOf(schema, CHANGE, `usage on schema ${schema}`)],
    ['write at all', 'callback', async () => readOnly],
  ])('%s is found by doctor', async (_, check, urlFor) => {
    const { schema, doctor } = await newPatient();
    const { names, todo } = await doctor(await urlFor(schema));
    expect(names).toEqual([`problem ${check}`]);
    expect(todo).toMatch(/^Grant the role|default_transaction_read_only = off/);
    expect((await doctor(await roleOf(schema, CHANGE))).names).toEqual([]); // Control.
  });

  test('open as many connections as the pools of its processes is found', async () => {
    const { schema, direct, doctor } = await newPatient();
    const names = async (...args: string[]) => (await doctor(undefined, ...args)).names;
    expect(await names('--pool', '10', '--processes', '4')).toEqual([]);
    expect(await names('--pool', '150', '--processes', '2')).toEqual(['problem pool']);
    expect(await names('--pool', '2')).toEqual(['notice pool']);
    const url = await roleOf(schema, CHANGE);
    expect((await doctor(url, '--pool', '10')).names).toEqual([]);
    await direct.query(`alter role ${new URL(url).username} connection limit 5`);
    const { names: found, seen } = await doctor(url, '--pool', '10');
    expect(found).toEqual(['problem pool']);
    expect(seen).toContain('at most 5');
  });
});

test('handlers are probably slow when a worker listens and something has been due for long', async () => {
  // In its own database: in the shared one, the workers of concurrent tests listen.
  await (await connected(SERVER)).query('create database one_worker');
  const server = changed(SERVER, { pathname: '/one_worker' });
  const { inbox, direct, schema, doctor } = await newPatient(server);
  await inbox.receive(paid('ORD-1', 500));
  await direct.query(`update ${schema}.transition set next_at = next_at - 600000`);
  const says = async (): Promise<string> => {
    const { names, todo } = await doctor();
    expect(names).toEqual(['problem worker']);
    return todo;
  };
  expect(await says()).toMatch(/^Probably no process/);
  await (await connected(server)).query(`listen payment_inbox -- another_${schema}.`);
  expect(await says()).toMatch(/^Probably no process/);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void postgres(direct, { schema }).listen?.('', () => undefined, stop.signal);
  await until(async () => /^Probably handlers/.test(await says()));
});

describe('the way to PostgreSQL', () => {
  test('through a pooler, or through what passes no NOTIFY, is a notice', async () => {
    const { doctor } = await newPatient();
    const { url } = await poolerOf(SERVER);
    expect(await doctor(url)).toMatchObject({ code: 0, names: ['notice notify'] });
    const seen = expect.stringContaining('did not arrive');
    const deaf = await doctor(await deafProxy(SERVER));
    expect(deaf).toMatchObject({ code: 0, names: ['notice notify'], seen });
    expect((await doctor()).names).toEqual([]); // Control.
  });

  test('to a database with another clock is found', async () => {
    const { direct, schema, doctor } = await newPatient();
    // A server whose clock differs: its time function shadows the system's.
    const clock = async (seconds: number): Promise<string[]> => {
      await direct.query(`create or replace function ${schema}.statement_timestamp() returns timestamptz stable
        language sql as $$ select pg_catalog.statement_timestamp() + interval '${seconds} seconds' $$`);
      const { findings } = await doctor(withSettings(SERVER, `-c search_path=${schema},pg_catalog`));
      return findings.map(({ seen }) => seen);
    };
    expect(await clock(-3600)).toEqual([
      expect.stringMatching(/^The clock of the database is \d+ seconds behind that of this machine/),
      expect.stringMatching(/^The clock of the database is \d+ seconds behind the latest time/),
    ]);
    expect(await clock(0)).toEqual([]); // Control.
    const ahead = /^The clock of the database is 3\d{3} seconds ahead of that of this machine/;
    expect(await clock(3600)).toEqual([expect.stringMatching(ahead)]);
  });
});

describe('a server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ max_connections: '20' });
  });
  afterAll(() => server.stop());

  /** A setting of the whole server, as its administrator sets it, until the test ends. */
  async function set(name: string, value: string): Promise<void> {
    const admin = await connected(server.url);
    await admin.query("set synchronous_commit = 'local'");
    onTestFinished(async () => {
      await admin.query('alter system reset all');
      await admin.query('select pg_reload_conf()');
    });
    await admin.query(`alter system set ${name} = '${value}'`);
    // The first process reads the settings before it tells the others to do so. Repeated, since it may not have been listening
    // yet.
    await until(async () => {
      await admin.query('select pg_reload_conf()');
      const { rows } = await admin.query('select reset_val from pg_settings where name = $1', [name]);
      return rows[0]?.reset_val === value;
    });
  }

  test.each(['fsync', 'full_page_writes', 'synchronous_commit'])('with %s off is found', async (name) => {
    const { doctor } = await newPatient(server.url);
    expect((await doctor()).names).toEqual([]); // Control.
    await set(name, 'off');
    const { names, todo } = await doctor();
    expect(names).toEqual(['problem durability']);
    expect(todo).toContain(`Set ${name} = on`);
  });

  test('with a standby for which no commit waits is found', async () => {
    const { doctor } = await newPatient(server.url);
    await connected(server.url, { replication: 'true' });
    const { names, seen } = await doctor();
    expect(names).toEqual(['problem replication']);
    expect(seen).toMatch(/^Standbys are connected \(1\)/);
  });

  test('whose synchronous standby is not connected is found, and each commit waits', async () => {
    const { doctor } = await newPatient(server.url);
    await set('synchronous_standby_names', 'standby_a');
    const { names, seen } = await doctor();
    expect(names).toEqual(['problem replication', 'problem callback']);
    expect(seen).toContain('standby_a');
  });

  test('whose connections are nearly used up is found', async () => {
    const { doctor } = await newPatient(server.url);
    await Promise.all(Array.from({ length: 14 }, () => connected(server.url)));
    const { names, seen } = await doctor();
    expect(names).toEqual(['problem connections']);
    expect(seen).toMatch(/^1\d connections are open, and this server allows 17\.$/);
  });

  test('with another encoding is found', async () => {
    const admin = await connected(server.url);
    await admin.query("create database plain encoding 'SQL_ASCII' template template0");
    const { names, seen } = await runDoctor([], {
      DATABASE_URL: changed(server.url, { pathname: '/plain' }),
    });
    expect(names).toEqual(['problem engine', 'problem tables']);
    expect(seen).toContain('SQL_ASCII');
  });
});

test('a standby is named as such by doctor, and shows what is stored', async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const { inbox, direct, schema } = poolShop({ server: primary.url });
  await inbox.receive(paid('ORD-1', 500));
  await direct.query('checkpoint');
  await primary.kill('everything');
  const { password } = new URL(primary.url);
  const filter = (path: string): boolean => !path.endsWith('postmaster.pid');
  const fill = async (folder: string): Promise<void> => {
    await cp(primary.dataFolder, folder, { recursive: true, filter });
    await writeFile(join(folder, 'standby.signal'), '');
  };
  const standby = await startPostgres({}, { password, fill });
  onTestFinished(() => standby.stop());
  const env = { DATABASE_URL: standby.url };
  const { names } = await runDoctor(['--schema', schema], env);
  expect(names).toContain('problem standby');
  expect(names).not.toContain('problem callback');
  const listed = await runCommand(['ls', '--json', '--schema', schema], env);
  expect(JSON.parse(listed.stdout)).toHaveLength(1);
  const health = await runCommand(['health', '--json', '--schema', schema], env);
  expect(health.code).toBe(3);
  expect(JSON.parse(health.stdout)).toMatchObject({ problems: ['store_unavailable'] });
});

/** payment-service-inbox doctor and health on servers that are half broken: every check finds, and has a control. */
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@payment-service/postgres-server';
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

const CHANGE = 'select, insert, update, delete';

/** Of a schema on the server of the whole run, or on another one. */
async function newPatient(server = inject('postgresUrl')) {
  const shop = poolShop({ server });
  await shop.inbox.ready();
  const doctor = (url: string | undefined = server, ...args: string[]): Promise<Diagnosed> =>
    runDoctor(['--schema', shop.schema, ...args], { DATABASE_URL: url });
  return { ...shop, doctor };
}

/** The address with settings of its connections. */
function withSettings(address: string, settings: string): string {
  const url = new URL(address);
  url.searchParams.set('options', settings);
  return url.href;
}

function changed(address: string, change: Partial<URL>): string {
  return Object.assign(new URL(address), change).href;
}

describe('a database that cannot be reached', () => {
  test.each<[string, (url: string) => string, RegExp]>([
    ['no server', (url) => changed(url, { port: '1' }), /Probably no server runs/],
    ['an unknown host', (url) => changed(url, { hostname: 'no-such-host.invalid' }), /host name/],
    ['another password', (url) => changed(url, { password: 'hunter2secret' }), /password/],
    ['an unknown database', (url) => changed(url, { pathname: '/no-such' }), /name of the database/],
    ['an address that is invalid', (url) => `${url.slice(0, 11)}:hunter/2secret@x/`, /^Correct DATABASE_URL/],
  ])(
    'by %s is one finding of doctor, and store_unavailable of health, without the password',
    async (_, of, todo) => {
      const url = of(inject('postgresUrl'));
      const { names, findings, text } = await runDoctor([], { DATABASE_URL: url });
      expect(names).toEqual(['problem database']);
      expect(findings[0]?.todo).toMatch(todo);
      const health = await runCommand(['health', '--json'], { DATABASE_URL: url });
      expect(health.code).toBe(3);
      expect(JSON.parse(health.stdout)).toEqual({ ok: false, problems: ['store_unavailable'] });
      const { password } = new URL(inject('postgresUrl'));
      for (const secret of [password, 'hunter', '2secret'])
        expect(text + health.stderr).not.toContain(secret);
    },
  );
});

describe('a role or a connection that may not', () => {
  test.each<[string, string, (schema: string) => Promise<string>]>([
    ['select', 'callback', async (schema) => urlOf(await limitedRole(schema, 'select'))],
    [
      'write bodies',
      'callback',
      async (schema) => urlOf(await limitedRole(schema, CHANGE, `insert on ${schema}.body`)),
    ],
    [
      'use the schema',
      'tables',
      async (schema) => urlOf(await limitedRole(schema, CHANGE, `usage on schema ${schema}`)),
    ],
    [
      'write at all',
      'callback',
      async () => withSettings(inject('postgresUrl'), '-c default_transaction_read_only=on'),
    ],
  ])('%s is found by doctor', async (_, check, urlFor) => {
    const { schema, doctor } = await newPatient();
    const { names, findings } = await doctor(await urlFor(schema));
    expect(names).toEqual([`problem ${check}`]);
    expect(findings[0]?.todo).toMatch(/^Grant the role|default_transaction_read_only = off/);
    expect((await doctor(urlOf(await limitedRole(schema, CHANGE)))).names).toEqual([]); // Control.
  });
});

const urlOf = ({ connectionString = '' }: pg.PoolConfig): string => connectionString;

test('handlers are probably slow when a worker listens and something has been due for long', async () => {
  // In a database of its own: in the other one, the workers of the tests beside this one listen.
  const admin = new pg.Client(inject('postgresUrl'));
  await admin.connect();
  await admin.query('create database one_worker').finally(() => admin.end());
  const server = changed(inject('postgresUrl'), { pathname: '/one_worker' });
  const { inbox, direct, schema, doctor } = await newPatient(server);
  await inbox.receive(paid('ORD-1', 500));
  await direct.query(`update ${schema}.transition set next_at = next_at - 600000`);
  const says = async (): Promise<string> => {
    const { names, findings } = await doctor();
    expect(names).toEqual(['problem worker']);
    return findings[0]?.todo ?? '';
  };
  expect(await says()).toMatch(/^Probably no process/);
  const client = await direct.connect();
  onTestFinished(() => client.release(true));
  await client.query(`listen payment_inbox -- another_${schema}.`);
  expect(await says()).toMatch(/^Probably no process/);
  const other = postgres(direct, { schema });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void other.listen?.('', () => undefined, stop.signal);
  await until(async () => /^Probably handlers/.test(await says()));
});

describe('the way to PostgreSQL', () => {
  test('through a pooler, or through what passes no NOTIFY, is a notice', async () => {
    const { doctor } = await newPatient();
    const { url } = await poolerOf(inject('postgresUrl'));
    expect(await doctor(url)).toMatchObject({ code: 0, names: ['notice notify'] });
    const { code, findings } = await doctor(await deafProxy(inject('postgresUrl')));
    expect(code).toBe(0);
    expect(findings).toMatchObject([{ check: 'notify', seen: expect.stringContaining('did not arrive') }]);
    expect((await doctor()).names).toEqual([]); // Control.
  });

  test('to a database with another clock is found', async () => {
    const { direct, schema, doctor } = await newPatient();
    // A server whose clock differs: its function of the time is found before that of the system.
    const clock = async (seconds: number) => {
      await direct.query(`create or replace function ${schema}.statement_timestamp() returns timestamptz stable
        language sql as $$ select pg_catalog.statement_timestamp() + interval '${seconds} seconds' $$`);
      return doctor(withSettings(inject('postgresUrl'), `-c search_path=${schema},pg_catalog`));
    };
    expect((await clock(-3600)).findings.map(({ seen }) => seen)).toEqual([
      expect.stringMatching(/^The clock of the database is \d+ seconds behind that of this machine/),
      expect.stringMatching(/^The clock of the database is \d+ seconds behind the latest time/),
    ]);
    expect((await clock(0)).names).toEqual([]); // Control.
    expect((await clock(3600)).findings.map(({ seen }) => seen)).toEqual([
      expect.stringMatching(/^The clock of the database is 3\d{3} seconds ahead of that of this machine/),
    ]);
  });
});

describe('connections', () => {
  test('of pools are compared with the limits of the server for a role', async () => {
    const { schema, direct, doctor } = await newPatient();
    const names = async (...args: string[]) => (await doctor(undefined, ...args)).names;
    expect(await names('--pool', '10', '--processes', '4')).toEqual([]);
    expect(await names('--pool', '150', '--processes', '2')).toEqual(['problem pool']);
    expect(await names('--pool', '2')).toEqual(['notice pool']);
    const url = urlOf(await limitedRole(schema, CHANGE));
    expect((await doctor(url, '--pool', '10')).names).toEqual([]);
    await direct.query(`alter role ${new URL(url).username} connection limit 5`);
    const { findings } = await doctor(url, '--pool', '10');
    expect(findings).toMatchObject([{ check: 'pool', seen: expect.stringContaining('at most 5') }]);
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
    const admin = new pg.Client(server.url);
    await admin.connect();
    await admin.query("set synchronous_commit = 'local'");
    onTestFinished(async () => {
      await admin.query('alter system reset all');
      await admin.query('select pg_reload_conf()');
      await admin.end();
    });
    await admin.query(`alter system set ${name} = '${value}'`);
    // The first process reads the settings before it tells the others to do so. Asked again, since it may not have listened yet.
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
    const { names, findings } = await doctor();
    expect(names).toEqual(['problem durability']);
    expect(findings[0]?.todo).toContain(`Set ${name} = on`);
  });

  test('with a standby for which no commit waits is found', async () => {
    const { doctor } = await newPatient(server.url);
    const standby = new pg.Client({ connectionString: server.url, ...{ replication: 'true' } });
    await standby.connect();
    onTestFinished(() => standby.end());
    const { names, findings } = await doctor();
    expect(names).toEqual(['problem replication']);
    expect(findings[0]?.seen).toMatch(/^Standbys are connected \(1\)/);
  });

  test('whose synchronous standby is not connected is found, and each commit waits', async () => {
    const { doctor } = await newPatient(server.url);
    await set('synchronous_standby_names', 'standby_a');
    const { names, findings } = await doctor();
    expect(names).toEqual(['problem replication', 'problem callback']);
    expect(findings[0]?.seen).toContain('standby_a');
  });

  test('whose connections are nearly used up is found', async () => {
    const { doctor } = await newPatient(server.url);
    const others = Array.from({ length: 14 }, () => new pg.Client(server.url));
    onTestFinished(async () => void (await Promise.all(others.map((client) => client.end()))));
    await Promise.all(others.map((client) => client.connect()));
    const { names, findings } = await doctor();
    expect(names).toEqual(['problem connections']);
    expect(findings[0]?.seen).toMatch(/^1\d connections are open, and this server allows 17\.$/);
  });

  test('with another encoding is found', async () => {
    const admin = new pg.Client(server.url);
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query("create database plain encoding 'SQL_ASCII' template template0");
    const { names, findings } = await runDoctor([], {
      DATABASE_URL: changed(server.url, { pathname: '/plain' }),
    });
    expect(names).toEqual(['problem engine', 'problem tables']);
    expect(findings[0]?.seen).toContain('SQL_ASCII');
  });
});

test('a standby is named as such by doctor, and shows what is stored', async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const shop = poolShop({ server: primary.url });
  await shop.inbox.receive(paid('ORD-1', 500));
  await shop.direct.query('checkpoint');
  await primary.kill('everything');
  const { password } = new URL(primary.url);
  const standby = await startPostgres(
    {},
    {
      password,
      async fill(folder) {
        await cp(primary.dataFolder, folder, {
          recursive: true,
          filter: (path) => !path.endsWith('postmaster.pid'),
        });
        await writeFile(join(folder, 'standby.signal'), '');
      },
    },
  );
  onTestFinished(() => standby.stop());
  const env = { DATABASE_URL: standby.url };
  const { names } = await runDoctor(['--schema', shop.schema], env);
  expect(names).toContain('problem standby');
  expect(names).not.toContain('problem callback');
  const listed = await runCommand(['ls', '--json', '--schema', shop.schema], env);
  expect(JSON.parse(listed.stdout)).toHaveLength(1);
  const health = await runCommand(['health', '--json', '--schema', shop.schema], env);
  expect(health.code).toBe(3);
  expect(JSON.parse(health.stdout)).toMatchObject({ problems: ['store_unavailable'] });
});

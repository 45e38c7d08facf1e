/** The page about containers: both files are parsed, and the commands that they name run on PostgreSQL, without Docker. */
import { writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { createInbox, postgres } from '@payment-service/inbox';
import { execute, finish, start, until } from '@payment-service/release/toolchains';
import { createSandbox } from '@payment-service/sandbox';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../../../vitest.shared.ts';
import { emptyFolder } from '../../src/extracted.ts';
import { fencedBlocks } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';
import { commandFile, mustNotWarn } from './running-program.ts';

interface Service {
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}

const MAX_WAIT_MS = 60_000;
const blocks = fencedBlocks(fileAt('docs/guide/containers.md').text);
const block = (info: string): string => {
  const found = blocks.filter((one) => one.info === info);
  expect(found, info).toHaveLength(1);
  return found[0]?.code ?? '';
};
const { services, volumes }: { services: Record<string, Service>; volumes: object } = parse(block('yaml'));
const steps = block('dockerfile')
  .trim()
  .split('\n')
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)?.slice(1) ?? []);
const argumentsOf = (instruction: string): readonly string[] =>
  steps.filter(([name]) => name === instruction).map(([, given = '']) => given);

const folder = emptyFolder('containers');
let database: PostgresServer;
beforeAll(async () => {
  for (const name of ['server', 'worker']) writeFileSync(join(folder, `${name}.mjs`), block(`ts ${name}`));
  database = await startPostgres();
});
afterAll(() => database.stop());

/** A command of the files as this machine runs it; `npx` names a program of this repository. */
function runnable(command: readonly string[] = [], port = 3000) {
  const [program, ...args] = command.map((part) => part.replace(':3000/', `:${port}/`));
  if (program === 'node') return { command: process.execPath, args, cwd: folder };
  expect(program).toBe('npx');
  const [name = '', ...rest] = args;
  return { command: process.execPath, args: [commandFile(name), ...rest], cwd: folder };
}

test('the Dockerfile copies the files that the services start, and each service waits for what it needs', () => {
  const [workdir = ''] = argumentsOf('WORKDIR');
  const copied = argumentsOf('COPY').flatMap((given) => given.split(' '));
  const started = Object.values(services).flatMap(({ command = [] }) =>
    command.filter((one) => one.endsWith('.mjs')),
  );
  expect(started).toEqual(['server.mjs', 'worker.mjs']);
  expect(copied).toEqual(expect.arrayContaining(started));
  expect(argumentsOf('CMD')).toEqual([JSON.stringify(services['server']?.command).replace(',', ', ')]);
  expect(argumentsOf('USER')).toEqual(['node']);
  // The spool of the program is the volume.
  const [, spool = ''] = /spool: '(\w+)'/.exec(block('ts server')) ?? [];
  expect(services['server']?.volumes).toEqual([`spool:${posix.join(workdir, spool)}`]);
  const named = Object.values(services).flatMap((one) =>
    (one.volumes ?? []).map((volume) => volume.split(':')[0]),
  );
  expect(Object.keys(volumes).sort()).toEqual(named.sort());
  expect(services['migrate']?.depends_on).toEqual({ db: { condition: 'service_healthy' } });
  for (const name of ['server', 'worker']) {
    expect(services[name]?.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    // Longer than the default of handlerTimeoutMs.
    expect(Number.parseInt(services[name]?.stop_grace_period ?? '', 10)).toBeGreaterThan(30);
  }
});

test('its commands create the tables, receive a callback, apply it, report their health, and end with 0 on SIGTERM', async () => {
  const { migrate, server, worker } = services;
  const sandbox = createSandbox({ retry: { preset: 'none' } });
  const PATH = process.env['PATH'] ?? '';
  const port = await freePort();
  const own = {
    PATH,
    DATABASE_URL: database.url,
    SIGNING_KEY: sandbox.account.signingKey,
    PORT: String(port),
  };
  // Its keys are the sandbox's here, and its address is loopback.
  const env = { ...own, NODE_ENV: 'development', HOST: '127.0.0.1' };
  const early = await execute({ ...runnable(worker?.healthcheck?.test.slice(1)), env });
  expect(early.code).not.toBe(0);
  expect(await execute({ ...runnable(migrate?.command), env })).toMatchObject({ code: 0 });

  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('create table orders (reference text primary key, paid text)');
  await client.query("insert into orders values ('ORD-1', null)");
  const running = [server, worker].map((service) =>
    start({ ...runnable(service?.command), env, isAlone: true }),
  );
  const [receiving, applying] = running;
  if (receiving === undefined || applying === undefined) throw new Error('there are not two programs');
  try {
    const health = async (service: Service | undefined) =>
      (await execute({ ...runnable(service?.healthcheck?.test.slice(1), port), env })).code;
    await until(receiving, async () => (await health(server)) === 0, 'it is not healthy', MAX_WAIT_MS);
    const pool = new pg.Pool({ connectionString: database.url });
    const inbox = createInbox({ store: postgres(pool) });
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
    await inbox.close();
    await pool.end();
    sandbox.collect({
      ...{ merchant_reference: 'ORD-1', amount: 500, currency: 'UGX', provider_code: 'example_mobile_money' },
      ...{ account: '256772000001', callback_url: `http://127.0.0.1:${port}/payments/callbacks` },
    });
    await sandbox.idle();
    expect(sandbox.deliveries()[0]?.attempts[0]?.status).toBe(200);
    await until(
      applying,
      () => applying.output().includes('ORD-1 is paid: 500'),
      'it is not paid',
      MAX_WAIT_MS,
    );
    expect(await health(worker)).toBe(0);
  } finally {
    for (const one of running) await finish(one);
    await sandbox.close();
  }
  expect(running.map(({ child }) => child.exitCode)).toEqual([0, 0]);
  for (const one of running) mustNotWarn(one.output());
  expect((await client.query('select paid from orders')).rows).toEqual([{ paid: '500' }]);
  await client.end();
});

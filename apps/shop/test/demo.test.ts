import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newKeeping, temporaryFolder } from './support/new-keeping.ts';
import { type Program, run } from './support/program.ts';

const runDemo = (args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): Program =>
  run('demo.ts', args, { PORT: '0', SANDBOX_PORT: '0', ...environment });

function addressesIn(text: string): { shop: string; sandbox: string; file: string } {
  const [, shop = ''] = /Shop +(http:\S+)/.exec(text) ?? [];
  const [, sandbox = ''] = /Sandbox +(http:\S+)/.exec(text) ?? [];
  const [, file = ''] = /with the orders in (.+)/.exec(text) ?? [];
  return { shop, sandbox, file };
}

async function occupiedPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function isListening(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

/** Keeps connections to the address open, as browsers do: one that is idle, and one that never finishes its request. */
async function keepConnected(address: string): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  await new Promise((resolve) => get(address, { agent }, (response) => response.resume().on('end', resolve)));
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname, () => socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n'));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
}

/** Every framework, signal and location of the books once. */
test.each([
  ['express', 'SIGINT', 'a file that is removed with it', ['--framework', 'express']],
  ['fastify', 'SIGHUP', 'the file of INBOX_FILE', ['--framework', 'fastify']],
  ['koa', 'SIGTERM', 'PostgreSQL', ['--', '--framework', 'koa']], // With the two dashes that pnpm passes through.
] as const)('the demo on %s runs until %s, with its books in %s', async (framework, signal, place, args) => {
  const keeping = await newKeeping('postgres');
  const INBOX_FILE = join(temporaryFolder(), 'kept.sqlite');
  const DATABASE_URL = 'databaseUrl' in keeping ? keeping.databaseUrl : '';
  const environment = {
    ...(framework === 'express' ? {} : { INBOX_FILE }),
    ...(framework === 'koa' ? { DATABASE_URL } : {}),
  };
  const demo = runDemo(args, environment);
  const text = await demo.printed('Ctrl-C');
  expect(text.toLowerCase()).toContain(`it runs on ${framework}`);
  expect(text).toContain('What to click');
  const { shop, sandbox, file } = addressesIn(text);
  if (framework !== 'express') expect(file).toBe(framework === 'koa' ? place : INBOX_FILE);
  expect(existsSync(file)).toBe(framework !== 'koa');
  expect(await (await fetch(`${shop}/owner/inbox`)).text()).toContain('Payment inbox');
  expect(await (await fetch(shop)).text()).toContain('Hillside Market');
  expect((await fetch(`${shop}/healthz`)).status).toBe(200);
  // What is started in the dashboard reaches the shop, and the dashboard links to the shop's pages.
  const settings = await (await fetch(`${sandbox}/settings`)).text();
  for (const path of [
    '/payments/callbacks',
    '/orders/{merchant_reference}',
    '/owner/inbox/transitions?reference=',
  ]) {
    expect(settings).toContain(`value="${shop}${path}`);
  }
  // The suggested misbehaviour is one that the dashboard offers.
  const [, misbehaviour = 'none'] = /open "Settings", press "([^"]+)"/.exec(text) ?? [];
  expect(settings).toContain(`>${misbehaviour}</button>`);

  for (const address of [shop, sandbox]) await keepConnected(address);
  demo.process.kill(signal);
  // A terminal and pnpm both send it.
  demo.process.kill(signal);
  expect(await demo.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect([await isListening(shop), await isListening(sandbox)]).toEqual([false, false]);
  // What was not meant to be kept is gone.
  if (framework === 'express') expect(existsSync(dirname(file))).toBe(false);
  expect(existsSync(INBOX_FILE)).toBe(framework === 'fastify');
});

test.each(['PORT', 'SANDBOX_PORT'])(
  'the demo names the port that is in use, and %s to set',
  async (variable) => {
    const port = await occupiedPort();
    const { code, stdout, stderr } = await runDemo([], { [variable]: String(port) }).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `Port ${port} is in use. Stop the program that uses it, or set another port: ${variable}=${port + 1}\n`,
    );
  },
);

// Tests that only read the environment are in config.test.ts.
test.each([
  ['demo.ts', { HOST: '0.0.0.0' }, 'HOST must be this computer'],
  ['demo.ts', { NODE_ENV: 'production' }, 'does not start with NODE_ENV=production'],
  ['main.ts', { PUBLIC_KEY: 'PUBLICKEY' }, 'The shop needs these environment variables:\n  BASE_URL'],
])('%s refuses %o with a message, and no stack', async (program, environment, message) => {
  const { code, stdout, stderr } = await run(program, [], environment).ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('    at ');
});

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newKeeping, temporaryFolder } from './new-keeping.ts';
import { FRAMEWORKS } from './open-shop.ts';
import { type Program, run } from './program.ts';

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

describe('the demo', () => {
  test.each(FRAMEWORKS)('prints both addresses and what to click, on %s', async (framework) => {
    const demo = runDemo(['--framework', framework]);
    const text = await demo.printed('Ctrl-C');
    expect(text.toLowerCase()).toContain(`it runs on ${framework}`);
    expect(text).toContain('What to click');
    const { shop, sandbox, file } = addressesIn(text);
    expect(existsSync(file)).toBe(true);
    expect(await (await fetch(`${shop}/owner/inbox`)).text()).toContain('Payment inbox');
    expect(await (await fetch(shop)).text()).toContain('Hillside Market');
    // What is started in the dashboard reaches the shop, and the dashboard leads to its pages.
    const settings = await (await fetch(`${sandbox}/settings`)).text();
    for (const path of [
      '/payments/callbacks',
      '/orders/{merchant_reference}',
      '/owner/inbox/transitions?reference=',
    ]) {
      expect(settings).toContain(`value="${shop}${path}`);
    }
    // The misbehaviour to try is one that the dashboard offers.
    const [, misbehaviour = 'none'] = /open "Settings", press "([^"]+)"/.exec(text) ?? [];
    expect(settings).toContain(`>${misbehaviour}</button>`);
    demo.process.kill('SIGINT');
    expect(await demo.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    // What was not to be kept is gone.
    expect(existsSync(dirname(file))).toBe(false);
  });

  test('keeps the books in PostgreSQL if DATABASE_URL is set, otherwise in a file that stays', async () => {
    const keeping = await newKeeping('postgres');
    const INBOX_FILE = join(temporaryFolder(), 'kept.sqlite');
    const DATABASE_URL = 'databaseUrl' in keeping ? keeping.databaseUrl : '';
    for (const [environment, title] of [
      [{ DATABASE_URL, INBOX_FILE }, 'PostgreSQL'],
      [{ INBOX_FILE }, INBOX_FILE],
    ] as const) {
      const demo = runDemo([], environment);
      const { shop, file } = addressesIn(await demo.printed('Ctrl-C'));
      expect(file).toBe(title);
      expect((await fetch(`${shop}/healthz`)).status).toBe(200);
      expect(existsSync(INBOX_FILE)).toBe(title === INBOX_FILE);
      demo.process.kill('SIGINT');
      expect((await demo.ended).code).toBe(0);
    }
    expect(existsSync(INBOX_FILE)).toBe(true);
  });

  test('accepts the two dashes that pnpm passes through', async () => {
    const demo = runDemo(['--', '--framework', 'koa']);
    expect(await demo.printed('Ctrl-C')).toContain('It runs on Koa');
    demo.process.kill('SIGTERM');
    expect((await demo.ended).code).toBe(0);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'stops on %s with exit code 0, although browsers keep connections open',
    async (signal) => {
      const demo = runDemo();
      const { shop, sandbox } = addressesIn(await demo.printed('Ctrl-C'));
      const agent = new Agent({ keepAlive: true });
      onTestFinished(() => agent.destroy());
      for (const address of [shop, sandbox]) {
        await new Promise((resolve) =>
          get(address, { agent }, (response) => response.resume().on('end', resolve)),
        );
        // One more that never finishes its request.
        const { hostname, port } = new URL(address);
        const socket = connect(Number(port), hostname, () =>
          socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n'),
        );
        socket.on('error', () => undefined);
        await once(socket, 'connect');
      }
      demo.process.kill(signal);
      // A terminal and pnpm both send it.
      demo.process.kill(signal);
      const { code, stderr } = await demo.ended;
      expect([code, stderr]).toEqual([0, '']);
      expect([await isListening(shop), await isListening(sandbox)]).toEqual([false, false]);
    },
  );

  test('names the port of the shop that is in use, and the variable to set', async () => {
    const port = await occupiedPort();
    const { code, stdout, stderr } = await runDemo([], { PORT: String(port) }).ended;
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      `Port ${port} is in use. Stop the program that uses it, or set another port: PORT=${port + 1}\n`,
    );
  });

  test('names the port of the sandbox that is in use, and the variable to set', async () => {
    const port = await occupiedPort();
    const { code, stdout, stderr } = await runDemo([], { SANDBOX_PORT: String(port) }).ended;
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(`Port ${port} is in use.`);
    expect(stderr).toMatch(`SANDBOX_PORT=${port + 1}`);
    expect(stderr).not.toContain('    at ');
  });

  // What only reads the environment is in config.test.ts.
  test.each([
    [[], { HOST: '0.0.0.0' }, 'HOST must be this computer'],
    [[], { DATABASE_URL: 'postgres://shop:SECRET@127.0.0.1:1/shop' }, 'cannot be used: connect ECONNREFUSED'],
    [[], { NODE_ENV: 'production' }, 'does not start with NODE_ENV=production'],
    [['--framework', 'hapi'], {}, 'Unknown arguments: --framework hapi. Use --framework express'],
  ] as const)('refuses %j %o with a message', async (args, environment, message) => {
    const { code, stdout, stderr } = await runDemo(args, environment).ended;
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/ {4}at |SECRET/);
  });
});

describe('the shop alone', () => {
  const KEYS = { PUBLIC_KEY: 'PUBLICKEY', SECRET_KEY: 'SECRETKEY', SIGNING_KEY: 'SIGNINGKEY' };

  test('names everything that is missing', async () => {
    const { code, stderr } = await run('main.ts', [], { PUBLIC_KEY: 'PUBLICKEY' }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/BASE_URL[\s\S]*SECRET_KEY[\s\S]*SIGNING_KEY/);
    expect(stderr).not.toContain('PUBLIC_KEY ');
  });

  test('refuses a wrong key with a message that contains no key', async () => {
    const INBOX_FILE = join(temporaryFolder(), 'shop.sqlite');
    const wrong = {
      BASE_URL: 'http://127.0.0.1:4010',
      PORT: '0',
      INBOX_FILE,
      ...KEYS,
      SIGNING_KEY: 'SECRETKEY',
    };
    const { code, stderr } = await run('main.ts', [], wrong).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('signingKey is the secret key');
    expect(stderr).not.toMatch(/SECRETKEY| {4}at /);
  });

  test('runs against the service that the environment names, and stops', async () => {
    const INBOX_FILE = join(temporaryFolder(), 'shop.sqlite');
    const environment = { BASE_URL: 'http://127.0.0.1:9', PORT: '0', INBOX_FILE, ...KEYS };
    const shop = run('main.ts', ['--framework', 'fastify'], environment);
    const text = await shop.printed('Ctrl-C');
    const [, origin = ''] = /The shop runs on Fastify: (http:\/\/127\.0\.0\.1:\d+)/.exec(text) ?? [];
    expect(await (await fetch(`${origin}/orders/ORD-NONE`)).text()).toContain('Not found');
    shop.process.kill('SIGINT');
    expect((await shop.ended).code).toBe(0);
  });
});

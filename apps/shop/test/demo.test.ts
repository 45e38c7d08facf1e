import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newFile, openShop } from './support/open-shop.ts';
import { run } from './support/program.ts';

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

// On Fastify, restart.test.ts starts and stops the shop.
test.each([
  { framework: 'Express', signal: 'SIGINT', place: 'a file that is removed with it', args: [] },
  // With the two dashes that pnpm passes through.
  { framework: 'Koa', signal: 'SIGTERM', place: 'INBOX_FILE', args: ['--', '--framework', 'koa'] },
] as const)('the demo on $framework runs until $signal, with its orders in $place', async (one) => {
  const { framework, signal, place, args } = one;
  const INBOX_FILE = newFile();
  const own = place === 'INBOX_FILE' ? { INBOX_FILE } : {};
  const demo = run('demo.ts', args, { PORT: '0', SANDBOX_PORT: '0', ...own });
  const text = await demo.printed('Ctrl-C');
  expect(text).toContain(`It runs on ${framework}`);
  const [shop = '', sandbox = ''] = [/Shop +(http:\S+)/, /Sandbox +(http:\S+)/].map(
    (each) => each.exec(text)?.[1],
  );
  const [, file = ''] = /with the orders in (.+)/.exec(text) ?? [];
  expect([existsSync(file), file === INBOX_FILE]).toEqual([true, place === 'INBOX_FILE']);
  expect(await (await fetch(shop)).text()).toContain('Hillside Market');
  // What is started in the dashboard reaches the shop, and the dashboard links to the shop's pages.
  const settings = await (await fetch(`${sandbox}/settings`)).text();
  expect(settings).toContain(`value="${shop}/payments/callbacks`);

  for (const address of [shop, sandbox]) await keepConnected(address);
  demo.process.kill(signal);
  // A terminal and pnpm both send it.
  demo.process.kill(signal);
  expect(await demo.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  for (const address of [shop, sandbox]) await expect(fetch(address)).rejects.toThrow();
  // What was not meant to be kept is gone.
  expect(existsSync(dirname(file))).toBe(place === 'INBOX_FILE');
});

// Tests that only read the environment are in config.test.ts.
test('the demo and the shop refuse with a message, and no stack', async () => {
  const { sandboxOrigin } = await openShop();
  const port = Number(new URL(sandboxOrigin).port);
  const taken = `Port ${port} is in use. Stop the program that uses it, or set another port: SANDBOX_PORT=${port + 1}\n`;
  const refusals = [
    // The sandbox is open by then.
    ['demo.ts', { PORT: String(port), SANDBOX_PORT: '0' }, taken.replace('SANDBOX_PORT', 'PORT')],
    ['demo.ts', { PORT: '0', SANDBOX_PORT: String(port) }, taken],
    ['demo.ts', { NODE_ENV: 'production' }, 'does not start with NODE_ENV=production'],
  ] as const;
  await Promise.all(
    refusals.map(async ([program, environment, message]) => {
      const { code, stdout, stderr } = await run(program, [], environment).ended;
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
      expect(stderr).not.toContain('    at ');
    }),
  );
});

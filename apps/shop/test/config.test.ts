import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentServiceError } from '@payment-service/core';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig, readPort, SetupError } from '../src/config.ts';
import { readFramework, startShop } from '../src/server/start-shop.ts';
import { newFile } from './support/open-shop.ts';

const KEYS = { PUBLIC_KEY: 'PUBLICKEY', SECRET_KEY: 'SECRETKEY', SIGNING_KEY: 'SIGNINGKEY' };
const USAGE = 'Use --framework express, --framework fastify or --framework koa.';

const problemOf = (act: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(act)
    .catch((error: unknown) => error);

test.each([
  [() => readPort({ PORT: 'http' }, 'PORT', 3000), 'PORT must be a port number from 0 to 65535'],
  [() => readPort({ SANDBOX_PORT: '70000' }, 'SANDBOX_PORT', 4010), 'SANDBOX_PORT must be a port number'],
  [() => readFramework(['--framwork', 'koa']), `Unknown arguments: --framwork koa. ${USAGE}`],
  [() => readFramework(['koa']), USAGE],
  [() => readFramework(['--framework', 'toString']), USAGE],
])('a setting is refused with a message: %s', async (read, message) => {
  const error = await problemOf(read);
  expect(error).toBeInstanceOf(SetupError);
  expect(String(error)).toContain(message);
});

test('the names of all variables that are missing are in one message', async () => {
  const error = await problemOf(() => readConfig({ ...KEYS, SECRET_KEY: '', SIGNING_KEY: undefined }));
  expect(String(error)).toMatch(/BASE_URL[\s\S]*SECRET_KEY[\s\S]*SIGNING_KEY/);
  expect(String(error)).not.toContain('PUBLIC_KEY ');
});

const start = (environment: Readonly<Record<string, string>>): Promise<unknown> =>
  problemOf(() => {
    const needed = { BASE_URL: 'http://127.0.0.1:4010', PORT: '0', INBOX_FILE: newFile(), ...KEYS };
    return startShop('express', readConfig({ ...needed, ...environment }));
  });

test.each([
  [{ BASE_URL: 'ftp://127.0.0.1' }, 'BASE_URL must be an http or https address'],
  [{ BASE_URL: 'http://payments.example' }, 'baseUrl'],
  [{ SHOP_URL: 'shop.example' }, 'SHOP_URL must be an http or https address'],
  [{ SHOP_URL: 'https://shop.example/market' }, 'SHOP_URL must have no path'],
  [{ SIGNING_KEY: 'SIGNING KEY' }, 'signingKey contains white space'],
  [{ SIGNING_KEY: 'SECRETKEY' }, 'signingKey is the secret key'],
  [{ INBOX_FILE: ':memory:' }, 'This is memory, where acknowledged callbacks can be lost'],
  [{ INBOX_FILE: '/nowhere/shop.sqlite' }, 'The folder of path'],
  [{ INBOX_FILE: import.meta.filename }, 'file is not a database'],
])('a shop does not start with %o, and its message contains no key', async (wrong, message) => {
  const error = await start(wrong);
  expect(error instanceof SetupError || error instanceof PaymentServiceError).toBe(true);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toMatch(/SECRET|SIGNING ?KEY/);
});

test('a shop whose port is in use names the port and the variable to set', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const message = `Port ${port} is in use. Stop the program that uses it, or set another port: PORT=${port + 1}`;
  expect(await start({ PORT: String(port) })).toMatchObject({ name: 'SetupError', message });
});

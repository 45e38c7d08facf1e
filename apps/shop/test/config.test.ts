import { PaymentServiceError } from '@payment-service/core';
import { expect, test } from 'vitest';
import { readConfig, readPort, SetupError } from '../src/config.ts';
import { readFramework, startShop } from '../src/server/start-shop.ts';
import { newFile, openShop } from './support/open-shop.ts';

const KEYS = { PUBLIC_KEY: 'PUBLIC4KEY', SECRET_KEY: 'SECRET4KEY', SIGNING_KEY: 'SIGNING4KEY' };
const USAGE = 'Use --framework express, --framework fastify or --framework koa.';

function start(environment: Readonly<Record<string, string>>): Promise<unknown> {
  const needed = { BASE_URL: 'http://127.0.0.1:4010', PORT: '0', INBOX_FILE: newFile(), ...KEYS };
  return startShop('express', readConfig({ ...needed, ...environment }));
}

test.each<[() => unknown, string]>([
  [() => readPort({ SANDBOX_PORT: '70000' }, 'SANDBOX_PORT', 4010), 'SANDBOX_PORT must be a port number'],
  [() => readFramework(['--framwork', 'koa']), `Unknown arguments: --framwork koa. ${USAGE}`],
  [() => readFramework(['--framework', 'toString']), USAGE],
  [() => readConfig({ ...KEYS, BASE_URL: 'http://a.example', SECRET_KEY: '' }), 'SECRET_KEY'],
  [() => start({ BASE_URL: 'ftp://127.0.0.1' }), 'baseUrl'],
  [() => start({ BASE_URL: 'http://payments.example' }), 'baseUrl'],
  [() => start({ SHOP_URL: 'https://shop.example/market' }), 'SHOP_URL must be an http or https address'],
  [() => start({ SIGNING_KEY: 'SIGNING KEY' }), 'signingKey contains white space'],
  [() => start({ INBOX_FILE: ':memory:' }), 'This is memory, where acknowledged callbacks can be lost'],
  [() => start({ INBOX_FILE: '/nowhere/shop.sqlite' }), 'The folder of path'],
])('a setting is refused with a message, which contains no key: %s', async (read, message) => {
  const error = await Promise.resolve()
    .then(read)
    .catch((caught: unknown) => caught);
  expect(error instanceof SetupError || error instanceof PaymentServiceError).toBe(true);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toMatch(/SECRETKEY|SIGNING ?KEY$/);
});

test('a shop whose port is in use names the port and the variable to set', async () => {
  const port = Number(new URL((await openShop()).origin).port);
  const message = `Port ${port} is in use. Stop the program that uses it, or set another port: PORT=${port + 1}`;
  await expect(start({ PORT: String(port) })).rejects.toMatchObject({ name: 'SetupError', message });
});

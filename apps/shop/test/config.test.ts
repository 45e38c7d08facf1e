import { join } from 'node:path';
import { PaymentServiceError } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import {
  readConfig,
  readKeeping,
  readLoopbackHost,
  readPort,
  readSupport,
  SetupError,
} from '../src/config.ts';
import { readFramework, startShop } from '../src/server/start-shop.ts';
import { temporaryFolder } from './support/new-keeping.ts';

const KEYS = { PUBLIC_KEY: 'PUBLICKEY', SECRET_KEY: 'SECRETKEY', SIGNING_KEY: 'SIGNINGKEY' };

describe('the configuration of the shop', () => {
  test.each([
    [() => readPort({ PORT: 'http' }, 'PORT', 3000), 'PORT must be a port number from 0 to 65535'],
    [() => readPort({ SANDBOX_PORT: '70000' }, 'SANDBOX_PORT', 4010), 'SANDBOX_PORT must be a port number'],
    [() => readLoopbackHost({ HOST: '192.0.2.7' }), 'HOST must be this computer'],
    [() => readSupport({ CONFIRM_SECONDS: '0' }), 'CONFIRM_SECONDS must be a whole number from 1 to 999999'],
    [() => readSupport({ CONTACT: 'the owner' }), 'CONTACT must be an email address'],
    [
      () => readKeeping({ DATABASE_URL: 'mysql://root:SECRET@127.0.0.1/shop' }, () => ''),
      'DATABASE_URL must be the address of a PostgreSQL',
    ],
    [
      () => readFramework(['--framwork', 'koa']),
      'Use --framework express, --framework fastify or --framework koa.',
    ],
    [() => readFramework(['koa']), 'Use --framework express, --framework fastify or --framework koa.'],
  ])('is refused with a message: %s', (read, message) => {
    const error = errorOf(read);
    expect(error).toBeInstanceOf(SetupError);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain('SECRET');
  });

  test('is refused with the names of all variables that are missing', () => {
    const error = errorOf(() => readConfig({ ...KEYS, SECRET_KEY: '', SIGNING_KEY: undefined }));
    expect(String(error)).toMatch(/BASE_URL[\s\S]*SECRET_KEY[\s\S]*SIGNING_KEY/);
    expect(String(error)).not.toContain('PUBLIC_KEY ');
  });

  test.each([
    [{ BASE_URL: 'ftp://127.0.0.1' }, 'BASE_URL must be an http or https address'],
    [{ BASE_URL: 'http://payments.example' }, 'baseUrl'],
    [{ SHOP_URL: 'shop.example' }, 'SHOP_URL must be an http or https address'],
    [{ SHOP_URL: 'https://shop.example/market' }, 'SHOP_URL must have no path'],
    [{ SIGNING_KEY: 'SIGNING KEY' }, 'signingKey contains white space'],
    [{ SIGNING_KEY: 'SECRETKEY' }, 'signingKey is the secret key'],
    [{ DATABASE_URL: 'postgres://shop:SECRET@127.0.0.1:1/shop' }, 'cannot be used: connect ECONNREFUSED'],
    [{ INBOX_FILE: ':memory:' }, 'This is memory, where acknowledged callbacks can be lost'],
    [{ INBOX_FILE: '/nowhere/shop.sqlite' }, 'The folder of path'],
    [{ INBOX_FILE: import.meta.filename }, 'file is not a database'],
  ])('stops a shop that starts with %o, with a message that contains no key', async (wrong, message) => {
    const INBOX_FILE = join(temporaryFolder(), 'shop.sqlite');
    const environment = { BASE_URL: 'http://127.0.0.1:4010', PORT: '0', INBOX_FILE, ...KEYS, ...wrong };
    const start = async (): Promise<unknown> => startShop('express', readConfig(environment));
    const error: unknown = await start().catch((cause: unknown) => cause);
    expect(error instanceof SetupError || error instanceof PaymentServiceError).toBe(true);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toMatch(/SECRET|SIGNING ?KEY/);
  });
});

function errorOf(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error;
  }
  return undefined;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createClient } from '@payment-service/core/client';
import { expect, test } from 'vitest';
import { createSandbox } from '../src/index.ts';
import { createStore } from '../src/state/store.ts';
import { call, collection } from './support/api.ts';

test('in memory it needs nothing of Node: only the command imports node: or a Node server at the start', async () => {
  const directory = new URL('../src/', import.meta.url);
  const files = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(30);
  for (const name of files.filter((one) => !/^command[/\\]/.test(one))) {
    const text = await readFile(new URL(name, directory), 'utf8');
    const imports = [...text.matchAll(/^import (?!type )[^;]*? from '([^']+)';$/gm)].map(([, from]) => from);
    expect(
      imports.filter((from) => from?.startsWith('node:') || from === '@hono/node-server'),
      name,
    ).toEqual([]);
  }
});

test('after close() nothing keeps the process alive: no timer, no socket, no file', async () => {
  const entry = new URL('../src/index.ts', import.meta.url);
  const program = `
    import { createSandbox } from ${JSON.stringify(entry.href)};
    const sandbox = createSandbox();
    const { url } = await sandbox.listen();
    const request = ${JSON.stringify(collection)};
    sandbox.collect({ ...request, callback_url: url, misbehave: { late_ms: 86_400_000 } });
    sandbox.collect({ ...request, callback_url: url, misbehave: { out_of_order: true } });
    sandbox.collect({ ...request, callback_url: url, retry: { backoff_ms: 86_400_000, max_backoff_ms: 86_400_000 } });
    await fetch(url);
    const waiting = sandbox.idle();
    await sandbox.close();
    await waiting;
    process.on('exit', () => console.log('ended without a call'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  expect([code, output]).toEqual([0, 'ended without a call\n']);
});

test('can be the fetch of a client, without a socket', async () => {
  const sandbox = createSandbox();
  const { publicKey, secretKey } = sandbox.account;
  const client = createClient({ baseUrl: 'http://127.0.0.1', publicKey, secretKey, fetch: sandbox.fetch });
  expect(await client.listPaymentProviders({ currency: 'KES', transaction_type: 'COLLECTION' })).toHaveLength(
    2,
  );
  expect(await client.listPayoutBanks({ provider_code: 'example_bank' })).toHaveLength(3);
  sandbox.collect(collection);
  const [wallet] = await client.getWalletBalances({ currency: 'UGX' });
  expect(wallet?.actual_balance).toBe(485);
  const stranger = createClient({
    baseUrl: 'http://127.0.0.1',
    publicKey: 'SANDBOXOTHER',
    fetch: sandbox.fetch,
  });
  await expect(stranger.listPaymentProviders()).rejects.toMatchObject({ code: 'api_error', status: 401 });
  await sandbox.close();
});

test('a failure of the sandbox itself is a 500 without details, and is passed to onError', async () => {
  const errors: unknown[] = [];
  let broken = false;
  const failure = new Error('The disk of account 42 is full');
  const now = (): number => {
    if (broken) throw failure;
    return 0;
  };
  const sandbox = createSandbox({
    clock: { now, sleep: () => Promise.resolve() },
    onError: (error) => errors.push(error),
  });
  broken = true;
  const { status, body } = await call(sandbox, 'POST', '/sandbox/collections', collection);
  expect([status, body.code, body.status, body.data]).toEqual([500, 500, 'error', {}]);
  expect(body.message).not.toContain('disk');
  expect(errors).toEqual([failure]);
  broken = false;
  expect((await call(sandbox, 'GET', '/sandbox/transactions')).body.data).toEqual({ transactions: [] });
  await sandbox.close();
});

test('a change that could not be saved is undone', () => {
  let full = false;
  const saved: string[] = [];
  const store = createStore({
    load: () => {},
    save: (changes) => {
      if (full) throw new Error('disk full');
      saved.push(...changes.map(({ kind, id }) => `${kind} ${id}`));
    },
    close: () => {},
  });
  store.write((unit) => unit.put('spent', 'day', { amount: 1 }));
  full = true;
  expect(() => store.write((unit) => unit.put('spent', 'day', { amount: 2 }))).toThrow('disk full');
  expect(store.get('spent', 'day')).toEqual({ amount: 1 });
  full = false;
  const half = (): void =>
    store.write((unit) => {
      unit.put('spent', 'day', { amount: 3 });
      unit.clear('spent');
      unit.put('spent', 'other', { amount: 4 });
      throw new Error('half way');
    });
  expect(half).toThrow('half way');
  expect(store.list('spent')).toEqual([{ amount: 1 }]);
  expect(saved).toEqual(['spent day']);
});

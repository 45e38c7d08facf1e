import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { defaultProviders, type SandboxOptions } from '../src/index.ts';
import { collection } from './support/api.ts';
import { startCommand } from './support/command.ts';
import { emptyFolder } from './support/folders.ts';
import { createManualClock } from './support/manual-clock.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();

/** Reopens the same file each time, after closing the previous sandbox. */
function reopenable(): { file: string; reopen(options?: SandboxOptions): Promise<void> } {
  const file = join(emptyFolder(), 'state.sqlite');
  let isOpen = false;
  const reopen = async (options: SandboxOptions = {}): Promise<void> => {
    if (isOpen) await stage.sandbox.close();
    stage.open({ file, ...options });
    isOpen = true;
  };
  return { file, reopen };
}

const dataOf = async (path: string) => (await stage.call('GET', path)).body.data;

/** The contents of the file, read without the sandbox. */
function inDatabase<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Everything that is visible of a sandbox from outside. */
async function snapshot() {
  const names = ['transactions', 'transfers', 'settings', 'clock', 'providers', 'entries'];
  const paths = ['/data/wallet-balances', ...names.map((name) => `/sandbox/${name}`)];
  const { account } = stage.sandbox;
  return { account, deliveries: stage.sandbox.deliveries(), all: await Promise.all(paths.map(dataOf)) };
}

test('everything is the same after a restart: keys, wallets, transactions, deliveries, settings, clock', async () => {
  const { reopen } = reopenable();
  const clock = createManualClock();
  await reopen({ clock });
  stage.collect({ customer_name: 'Zoë \u0000 \ud800 "quoted"', amount: 100_000 });
  stage.collect({ provider_code: 'example_card_usd', currency: 'USD', amount: 19.99 });
  stage.sandbox.transfer({ currency: 'UGX', amount: 50_000 });
  stage.sandbox.payout({ ...collection, merchant_reference: 'PAY-1', amount: 1000, mode: 'direct' });
  await stage.call('PUT', '/sandbox/settings', {
    misbehave: { duplicate: 1 },
    retry: { max_attempts: 2 },
    redirect_url: 'http://127.0.0.1:3000/return',
  });
  const bank = { provider_code: 'example_bank', bank_code: 'EX001', is_active: false };
  await stage.call('PUT', '/sandbox/banks', bank);
  stage.sandbox.advance(3600);
  await stage.sandbox.idle();
  const before = await snapshot();
  await reopen({ clock });
  expect(await snapshot()).toEqual(before);
  // Numbers continue where they were.
  const ids = (await stage.list('/sandbox/transactions')).map(({ id }) => Number(id));
  expect(stage.collect().transaction.id).toBeGreaterThan(Math.max(...ids));
});

test('threat A27: a host that is no longer listed gets nothing', async () => {
  const { reopen } = reopenable();
  await reopen({ allowedHosts: ['shop.internal'] });
  stage.collect({ callback_url: 'http://shop.internal/', misbehave: { late_ms: 1000 } });
  let asked = 0;
  const fetch = async (): Promise<Response> => {
    asked += 1;
    return new Response('ok');
  };
  await reopen({ fetch });
  stage.sandbox.advance(10);
  const attempts = () => stage.sandbox.deliveries().flatMap((one) => one.attempts);
  await until(() => attempts().length > 0);
  expect(asked).toBe(0);
  expect(attempts()[0]?.error).toMatch(/^not sent: the address must be on this computer/);
});

test('options at the start override earlier settings and providers', async () => {
  const { reopen } = reopenable();
  await reopen({ misbehave: { duplicate: 1 } });
  await reopen({ misbehave: { duplicate: 2 }, providers: defaultProviders.slice(0, 1) });
  await reopen();
  expect((await dataOf('/sandbox/settings'))['misbehave']).toEqual({ duplicate: 2 });
  expect(await stage.list('/sandbox/providers')).toHaveLength(1);
});

test('another seed is refused; the same seed or none is accepted', async () => {
  const { reopen } = reopenable();
  await reopen({ seed: 'a' });
  const { account } = stage.sandbox;
  await expect(reopen({ seed: 'b' })).rejects.toThrow(/another seed/);
  for (const seed of ['a', undefined]) {
    await reopen({ seed });
    expect(stage.sandbox.account).toEqual(account);
  }
});

test('the file of another program or of another version is refused by name, and not changed', async () => {
  const [text, foreign] = [join(emptyFolder(), 'text'), join(emptyFolder(), 'foreign')];
  await writeFile(text, 'This is not a database, and it is long enough to be looked at. '.repeat(20));
  inDatabase(foreign, (database) => database.exec('CREATE TABLE precious (x)'));
  const { file: old, reopen } = reopenable();
  await reopen();
  await stage.sandbox.close();
  inDatabase(old, (database) => database.exec('PRAGMA user_version = 2'));
  const other = `The file ${old} was written by another version of the sandbox, so this one cannot read it.`;
  expect(() => stage.open({ file: old })).toThrow(other);
  const version = inDatabase(old, (database) => database.prepare('PRAGMA user_version').get());
  expect(version).toEqual({ user_version: 2 });
  for (const file of [text, foreign])
    expect(() => stage.open({ file })).toThrow(`The file ${file} is not a state file of the sandbox`);
  inDatabase(foreign, (database) => {
    expect(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()).toEqual({ n: 1 });
    expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0 });
  });
});

test('kill -9 loses no acknowledged operation, and the callbacks that are owed are delivered, copies included', async () => {
  const { file, reopen } = reopenable();
  const { url, keys, stop } = await startCommand(['--port', '0', '--file', file]);
  const headers = { ...keys, 'content-type': 'application/json' };
  const answered: Record<string, unknown>[] = [];
  const work = async (): Promise<void> => {
    for (;;) {
      const change = { callback_url: stage.merchant.url, misbehave: { late_ms: 60_000, duplicate: 1 } };
      const body = JSON.stringify({ ...collection, ...change });
      const answer = await fetch(`${url}/sandbox/collections`, { method: 'POST', headers, body });
      answered.push(JSON.parse(await answer.text()).data.transaction);
    }
  };
  // Three at a time: the kill interrupts the work of the others.
  const workers = [work(), work(), work()].map((one) => one.catch(() => 'killed'));
  await until(() => answered.length > 20);
  expect(await stop('SIGKILL')).toBe('SIGKILL');
  expect(await Promise.all(workers)).toEqual(['killed', 'killed', 'killed']);

  await reopen();
  const all = await stage.list('/sandbox/transactions?limit=1000');
  expect(all).toEqual(expect.arrayContaining(answered));
  const [wallet] = await stage.list('/data/wallet-balances?currency=UGX');
  expect(wallet?.['actual_balance']).toBe(all.length * 485);
  stage.sandbox.advance(60);
  await stage.sandbox.idle();
  expect(new Set(stage.merchant.received.map(stage.verdict))).toEqual(new Set(['ORD-1']));
  expect(
    stage
      .payloads()
      .map(({ id }) => id)
      .sort(),
  ).toEqual(all.flatMap(({ id }) => [id, id]).sort());
});

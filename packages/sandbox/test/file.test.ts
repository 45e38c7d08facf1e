import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, defaultProviders, type Sandbox } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { runCommand, startCommand } from './support/command.ts';
import { createManualClock } from './support/manual-clock.ts';
import { startMerchant } from './support/merchant.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-'));
});
afterAll(() => rm(directory, { recursive: true }));
const newFile = (): string => join(directory, `${randomUUID()}.sqlite`);

/** Everything that can be seen of a sandbox from outside. */
const snapshot = async (sandbox: Sandbox) => ({
  account: sandbox.account,
  deliveries: sandbox.deliveries(),
  wallets: (await call(sandbox, 'GET', '/data/wallet-balances')).body,
  transactions: (await call(sandbox, 'GET', '/sandbox/transactions')).body,
  transfers: (await call(sandbox, 'GET', '/sandbox/transfers')).body,
  defaults: (await call(sandbox, 'GET', '/sandbox/settings')).body,
  clock: (await call(sandbox, 'GET', '/sandbox/clock')).body,
  providers: (await call(sandbox, 'GET', '/sandbox/providers')).body,
  entries: (await call(sandbox, 'GET', '/sandbox/entries')).body,
});

describe('a file keeps the state', () => {
  test('everything is the same after a restart: keys, wallets, transactions, deliveries, settings, clock', async () => {
    const merchant = await startMerchant();
    const file = newFile();
    const clock = createManualClock();
    const first = createSandbox({ file, clock, callbackUrl: merchant.url });
    first.collect({ ...collection, customer_name: 'Zoë \u0000 \ud800 "quoted"', amount: 100_000 });
    first.collect({ ...collection, provider_code: 'example_card_usd', currency: 'USD', amount: 19.99 });
    first.transfer({ currency: 'UGX', amount: 50_000 });
    first.payout({ ...collection, merchant_reference: 'PAY-1', amount: 1000, mode: 'direct' });
    await call(first, 'PUT', '/sandbox/settings', {
      misbehave: { duplicate: 1 },
      retry: { max_attempts: 2 },
      redirect_url: 'http://127.0.0.1:3000/return',
    });
    const named = { provider_code: 'example_card_usd', transaction_currency: 'USD' };
    await call(first, 'PUT', '/sandbox/providers', {
      ...named,
      transaction_type: 'COLLECTION',
      is_active: false,
    });
    first.advance(3600);
    await first.idle();
    const before = await snapshot(first);
    await first.close();
    const second = createSandbox({ file, clock, callbackUrl: merchant.url });
    expect(await snapshot(second)).toEqual(before);
    // Numbers go on where they were.
    const ids = listOf(await call(second, 'GET', '/sandbox/transactions'), 'transactions').map(({ id }) =>
      Number(id),
    );
    expect(second.collect(collection).transaction.id).toBeGreaterThan(Math.max(...ids));
    await second.close();
    await merchant.close();
  });

  test('callbacks that were not delivered are sent after a restart', async () => {
    const merchant = await startMerchant();
    const file = newFile();
    const clock = createManualClock();
    const first = createSandbox({ file, clock, callbackUrl: merchant.url });
    first.collect({ ...collection, misbehave: { late_ms: 5000, duplicate: 1 } });
    await first.close();
    clock.move(5000);
    const second = createSandbox({ file, clock });
    await second.idle();
    expect(merchant.received.map(({ data }) => data.payload.merchant_reference)).toEqual(['ORD-1', 'ORD-1']);
    await second.close();
    await merchant.close();
  });

  test('threat A27: a host that is no longer listed gets nothing', async () => {
    const file = newFile();
    const first = createSandbox({ file, allowedHosts: ['shop.internal'] });
    first.collect({ ...collection, callback_url: 'http://shop.internal/', misbehave: { late_ms: 1000 } });
    await first.close();
    let asked = 0;
    const second = createSandbox({
      file,
      fetch: async () => {
        asked += 1;
        return new Response('ok');
      },
      retry: { max_attempts: 1 },
    });
    second.advance(10);
    const queued = () => second.deliveries().flatMap(({ attempts }) => attempts);
    while (queued().length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(asked).toBe(0);
    expect(queued()[0]?.error).toMatch(/^not sent: the address must be on this computer/);
    await second.close();
  });

  test('options at the start override earlier settings', async () => {
    const file = newFile();
    await createSandbox({ file, misbehave: { duplicate: 1 } }).close();
    const second = createSandbox({ file, misbehave: { duplicate: 2 } });
    expect((await call(second, 'GET', '/sandbox/settings')).body.data['misbehave']).toEqual({ duplicate: 2 });
    await second.close();
  });

  test('a second process is refused, and the first one is not disturbed', async () => {
    const file = newFile();
    const first = createSandbox({ file });
    expect(() => createSandbox({ file })).toThrow(/^The file is in use by another sandbox/);
    const { code, stderr } = await runCommand(['--port', '0', '--file', file]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The file is in use by another sandbox.')]);
    first.collect(collection);
    await first.close();
    await createSandbox({ file }).close();
  });

  test('another seed is refused; the same seed or none is accepted', async () => {
    const file = newFile();
    const first = createSandbox({ file, seed: 'a' });
    await first.close();
    expect(() => createSandbox({ file, seed: 'b' })).toThrow(/another seed/);
    for (const seed of ['a', undefined]) {
      const again = createSandbox({ file, seed });
      expect(again.account).toEqual(first.account);
      await again.close();
    }
  });

  test('a clean stop keeps the log of requests', async () => {
    const file = newFile();
    const first = createSandbox({ file });
    await call(first, 'GET', '/data/wallet-balances');
    const before = (await call(first, 'GET', '/sandbox/requests')).body.data;
    await first.close();
    const second = createSandbox({ file });
    expect((await call(second, 'GET', '/sandbox/requests')).body.data).toEqual(before);
    expect(before['requests']).toHaveLength(1);
    await second.close();
  });

  test('providers at the start replace those in the file', async () => {
    const file = newFile();
    await createSandbox({ file }).close();
    const second = createSandbox({ file, providers: defaultProviders.slice(0, 1) });
    await second.close();
    const third = createSandbox({ file });
    expect(listOf(await call(third, 'GET', '/sandbox/providers'), 'providers')).toHaveLength(1);
    await third.close();
  });

  test('a file of another version is refused by name, and not changed', async () => {
    const file = newFile();
    await createSandbox({ file }).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 2');
    database.close();
    expect(() => createSandbox({ file })).toThrow(
      `The file ${file} was written by another version of the sandbox, so this one cannot read it. Delete it, or choose another file.`,
    );
    const again = new DatabaseSync(file);
    expect(again.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 });
    again.close();
  });

  test('threat A46: only its owner can read the file of the state and the files of SQLite beside it, new and old', async () => {
    // Windows has no such modes.
    const closed = process.platform === 'win32' ? '666' : '600';
    const modes = async (folder: string): Promise<Record<string, string>> =>
      Object.fromEntries(
        await Promise.all(
          (await readdir(folder)).map(async (name) => {
            const { mode } = await stat(join(folder, name));
            return [name, (mode & 0o777).toString(8)] as const;
          }),
        ),
      );
    const folder = await mkdtemp(join(directory, 'modes-'));
    const file = join(folder, 'state.sqlite');
    expect(process.umask() & 0o077, 'control: without care, a new file would be readable').not.toBe(0o077);
    const first = createSandbox({ file });
    first.collect(collection);
    const open = await modes(folder);
    expect(Object.keys(open)).toEqual(expect.arrayContaining(['state.sqlite', 'state.sqlite-wal']));
    expect(new Set(Object.values(open))).toEqual(new Set([closed]));
    await first.close();
    for (const name of await readdir(folder)) await chmod(join(folder, name), 0o644);
    await writeFile(`${file}-wal`, '', { mode: 0o644 });
    const second = createSandbox({ file });
    second.collect({ ...collection, merchant_reference: 'ORD-2' });
    expect(new Set(Object.values(await modes(folder)))).toEqual(new Set([closed]));
    await second.close();
  });

  test('the file of another program is refused, and not changed', async () => {
    const text = newFile();
    await writeFile(
      text,
      'This is not a database, and it is long enough to be looked at as one. '.repeat(20),
    );
    expect(() => createSandbox({ file: text })).toThrow(/not a state file of the sandbox/);
    const foreign = newFile();
    const database = new DatabaseSync(foreign);
    database.exec('CREATE TABLE precious (x); INSERT INTO precious VALUES (1)');
    database.close();
    expect(() => createSandbox({ file: foreign })).toThrow(/not a state file of the sandbox/);
    const again = new DatabaseSync(foreign);
    expect(again.prepare('SELECT count(*) AS n FROM sqlite_schema').get()).toEqual({ n: 1 });
    expect(again.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0 });
    again.close();
  });
});

describe('kill -9', () => {
  test('at several moments loses no acknowledged operation, keeps the balances right, and callbacks are delivered', async () => {
    const merchant = await startMerchant();
    const file = newFile();
    const args = ['--port', '0', '--file', file, '--callback-url', merchant.url];
    args.push('--retry', '{"max_attempts":50,"backoff_ms":20,"backoff_factor":1}');
    const answered = new Map<number, unknown>();
    const transfers = new Map<number, unknown>();
    let number = 0;

    for (const operations of [1, 3, 7, 12, 20]) {
      // While the merchant is down nothing is delivered, so that every kill leaves callbacks behind.
      merchant.answer = (response) => response.writeHead(503).end();
      const { url, keys, stop } = await startCommand(args);
      const send = async (path: string, body: object): Promise<Record<string, unknown> | undefined> => {
        const headers = { ...keys, 'content-type': 'application/json' };
        const answer = await fetch(`${url}/sandbox/${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        const { data } = JSON.parse(await answer.text());
        return answer.status === 201 ? data : undefined;
      };
      let done = 0;
      let enough = (): void => {};
      const isEnough = new Promise<void>((resolve) => {
        enough = resolve;
      });
      const work = async (): Promise<void> => {
        for (;;) {
          number += 1;
          const merchant_reference = `ORD-${number}`;
          const collected = await send('collections', { ...collection, merchant_reference, amount: 5000 });
          if (collected !== undefined) keep(answered, collected['transaction']);
          const moved = await send('transfers', { currency: 'UGX', amount: 2000 });
          if (moved !== undefined) keep(transfers, moved['transfer']);
          const paid = await send('payouts', {
            ...collection,
            merchant_reference: `PAY-${number}`,
            amount: 1500,
          });
          if (paid !== undefined) keep(answered, paid['transaction']);
          done += 1;
          if (done >= operations) enough();
        }
      };
      // Three at a time: the kill falls into the middle of what the others do.
      const workers = [work(), work(), work()].map((one) => one.catch(() => 'killed'));
      await isEnough;
      expect(await stop('SIGKILL')).toBe('SIGKILL');
      expect(await Promise.all(workers)).toEqual(['killed', 'killed', 'killed']);

      const sandbox = createSandbox({ file, retry: { max_attempts: 50, backoff_ms: 0 } });
      const all = listOf(await call(sandbox, 'GET', '/sandbox/transactions?limit=1000'), 'transactions');
      const found = new Map(all.map((one) => [Number(one['id']), one]));
      for (const [id, transaction] of answered) expect(found.get(id)).toEqual(transaction);
      const moves = listOf(await call(sandbox, 'GET', '/sandbox/transfers?limit=1000'), 'transfers');
      const moved = new Map(moves.map((one) => [Number(one['id']), one]));
      for (const [id, transfer] of transfers) expect(moved.get(id)).toEqual(transfer);

      const total = (list: Record<string, unknown>[], name: string): number =>
        list.reduce((sum, one) => sum + Number(one[name]), 0);
      const of = (type: string) => all.filter(({ transaction_type }) => transaction_type === type);
      const wallets = listOf(
        await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX'),
        'merchant_wallets',
      );
      const credits = total(of('COLLECTION'), 'total_credit');
      const paid = total(of('PAYOUT'), 'transaction_amount');
      const transferred = total(moves, 'amount');
      expect(wallets.map(({ available_balance }) => available_balance)).toEqual([
        credits - transferred,
        transferred - paid,
      ]);
      expect(wallets.map(({ actual_balance }) => actual_balance)).toEqual([
        credits - transferred,
        transferred - paid,
      ]);

      // Every transaction has its delivery, and most of them are still owed.
      const owed = sandbox.deliveries().filter(({ state }) => state === 'scheduled');
      expect(owed.length).toBeGreaterThan(0);
      expect(new Set(sandbox.deliveries().map(({ transaction_id }) => transaction_id))).toEqual(
        new Set(found.keys()),
      );
      await sandbox.close();
    }

    // The merchant is back, and a process starts: what was owed arrives.
    merchant.answer = (response) => response.end();
    const from = merchant.received.length;
    const last = await startCommand(args);
    const wanted = new Set(answered.keys());
    const arrived = (): Set<number> =>
      new Set(merchant.received.slice(from).map(({ data }) => data.payload.id));
    while (!isSubset(wanted, arrived())) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await last.stop('SIGINT')).toBe(0);
    await merchant.close();
  });
});

function keep(into: Map<number, unknown>, record: unknown): void {
  into.set(Number(Object(record).id), record);
}

function isSubset(part: Set<number>, whole: Set<number>): boolean {
  return [...part].every((one) => whole.has(one));
}

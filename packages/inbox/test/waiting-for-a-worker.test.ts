import { ConfigurationError } from '@payment-service/core';
import { expect, onTestFinished, test } from 'vitest';
import { type InboxEvent, type InboxProblem, postgres } from '../src/index.ts';
import { paid } from './support/callbacks.ts';
import { newMerchant } from './support/merchant.ts';
import { poolShop } from './support/pool-shop.ts';
import { MINUTE_MS, order } from './support/shop.ts';
import { after, isLook, watchedStore } from './support/store.ts';
import { startWork, statesOf, until, workOff, workUntil } from './support/until.ts';

test('callbacks that wait while no worker runs are reported once by a process that receives callbacks', async () => {
  const merchant = await newMerchant('sqlite');
  const inbox = merchant.open();
  await order(inbox, 'A');
  await inbox.close();
  await merchant.advance(2 * MINUTE_MS);
  const other = merchant.open();
  for (const reference of ['B', 'C']) await other.route.onCallback(paid(reference, 500));
  await until(() => merchant.problems.length > 0);
  await other.route.onCallback(paid('D', 500));
  const message = expect.stringMatching(
    /^A report has been due for 12\d seconds[.] No worker was seen listening[.] .*start one, or call drain/,
  );
  expect(merchant.problems).toMatchObject([{ kind: 'no_worker', isRepeated: false, error: { message } }]);
});

test('callbacks that wait although another process listens are reported as slow handlers', async () => {
  const merchant = await newMerchant('postgres');
  const inbox = merchant.open();
  await order(inbox, 'A');
  await inbox.close();
  await merchant.advance(2 * MINUTE_MS);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void merchant.newStore().listen?.('', () => undefined, stop.signal);
  await until(async () => {
    const other = merchant.open();
    await other.route.onCallback(paid('B', 500));
    await until(() => merchant.problems.length > 0);
    await other.close();
    return / A worker was seen listening[.] .*handlers are slow/.test(
      String(Object(merchant.problems.pop()?.error).message),
    );
  });
});

test('callbacks that wait are not reported by a process with a worker, nor while nothing is late (control)', async () => {
  const merchant = await newMerchant('sqlite');
  const [first, working] = [merchant.open(), merchant.open()];
  await order(first, 'A');
  await first.close();
  await merchant.advance(2 * MINUTE_MS);
  working.handle('paid', () => undefined, { changesNothing: true });
  const stop = startWork(working);
  await order(working, 'B');
  await until(async () => (await statesOf(working)).settled === 2);
  await stop();
  await workOff(working);
  await order(merchant.open(), 'C');
  expect(merchant.problems).toEqual([]);
});

test('callbacks that wait for a busy worker of the same process are not reported (control)', async () => {
  const merchant = await newMerchant('postgres');
  const [first, working] = [merchant.open(), merchant.open()];
  for (const reference of ['A', 'B']) await order(first, reference);
  await first.close();
  await merchant.advance(2 * MINUTE_MS);
  const held = Promise.withResolvers<void>();
  let begun = 0;
  const handler = (): Promise<void> => {
    begun += 1;
    return held.promise;
  };
  working.handle('paid', handler, { changesNothing: true });
  const stop = startWork(working, { concurrency: 1 });
  await until(() => begun > 0);
  await order(working, 'C');
  // Longer than the look after a callback takes.
  for (let times = 0; times < 5; times += 1) await working.health();
  held.resolve();
  await stop();
  expect(merchant.problems).toEqual([]);
});

test('a worker that cannot listen reports it once, and finds what others keep when it polls', async () => {
  const merchant = await newMerchant('postgres');
  let listens = 0;
  const listen = async (): Promise<void> => {
    listens += 1;
    throw Object.assign(new Error('a standby'), { code: '0A000' });
  };
  const inbox = merchant.open({ store: { ...merchant.newStore(), listen } });
  inbox.handle('paid', () => undefined, { changesNothing: true });
  const stop = startWork(inbox, { pollMs: 50 });
  await until(() => listens > 0);
  await order(merchant.open(), 'A');
  await until(async () => (await statesOf(inbox)).settled === 1);
  await until(() => listens > 1);
  await stop();
  const error = { message: expect.stringContaining('(0A000)') };
  expect(merchant.problems).toMatchObject([{ kind: 'worker_polls', isRepeated: false, error }]);
  expect(merchant.events).toContainEqual({ name: 'worker.started', concurrency: 4 });
});

test('a worker finds what another process has kept before it listens, without a poll', async () => {
  const merchant = await newMerchant('postgres');
  const { promise: mayListen, resolve: listenNow } = Promise.withResolvers<void>();
  const own = merchant.newStore();
  const listen: typeof own.listen = async (...given) => {
    await mayListen;
    await own.listen?.(...given);
  };
  let looks = 0;
  const store = watchedStore(
    { ...own, listen },
    after(isLook, () => {
      looks += 1;
    }),
  );
  const inbox = merchant.open({ store });
  inbox.handle('paid', () => undefined, { changesNothing: true });
  const stop = startWork(inbox, { pollMs: 3_600_000 });
  await until(() => looks > 0);
  await order(merchant.open(), 'A');
  listenNow();
  await until(async () => (await statesOf(inbox)).settled === 1);
  await stop();
});

test('a worker whose database would lose payments says what to change', async () => {
  const merchant = await newMerchant('sqlite');
  const check = () => Promise.reject(new ConfigurationError('store', 'Set fsync = on.'));
  const inbox = merchant.open({ store: { ...merchant.newStore(), check } });
  inbox.handle('paid', () => undefined, { changesNothing: true });
  await workUntil(inbox, () => merchant.problems.length > 0, { concurrency: 3 });
  const error = { message: expect.stringMatching(/\(ConfigurationError\).*: Set fsync = on\.$/) };
  expect(merchant.problems).toMatchObject([{ kind: 'worker_waits', error }]);
  // SQLite has one writer.
  expect(merchant.events).toContainEqual({ name: 'worker.started', concurrency: 1 });
});

test('a worker that cannot use the database reports it once, with the code, and again after a recovery', async () => {
  const problems: string[] = [];
  let isAway = true;
  let looks = 0;
  const { pool, schema, open } = poolShop();
  const store = watchedStore(postgres(pool, { schema }), async (text, run) => {
    if (isAway) throw Object.assign(new Error('no server'), { code: 'ECONNREFUSED' });
    if (text.includes(`from ${schema}.hour `)) looks += 1;
    return run();
  });
  const onError = (error: unknown, { kind }: InboxProblem) =>
    problems.push(`${kind} ${Object(error).message}`);
  const events: InboxEvent[] = [];
  const inbox = open({ store, onError, onEvent: (event) => events.push(event) });
  inbox.handle('paid', () => undefined, { changesNothing: true });
  const stop = startWork(inbox);
  const message =
    'worker_waits work() cannot use the database (ECONNREFUSED), so nothing is applied; it tries again. Probably no server runs at ' +
    'this address, or DATABASE_URL is not set and this is its default. Start it, or correct the host and the port.';
  await until(() => events.filter(({ name }) => name === 'store.unavailable').length > 1);
  expect(problems).toEqual([message]);
  isAway = false;
  await order(inbox, 'ORD-1');
  await until(async () => (await statesOf(inbox)).settled === 1);
  // Waits until it has looked again.
  await until(() => looks > 1);
  isAway = true;
  await until(() => problems.length > 1);
  await stop();
  expect(problems).toEqual([message, message]);
});

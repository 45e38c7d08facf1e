import { join } from 'node:path';
import { UnavailableError } from '@payment-service/core';
import { paymentCallbacks } from '@payment-service/fetch';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paid, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { order } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startWork, statesOf, until, untilDone } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A shop on the server that this file kills and restarts. */
function open(options: Parameters<typeof poolShop>[0] = {}): PoolShop {
  return poolShop({ server: server.url, ...options });
}

const newSpool = () => ({ spool: join(temporaryFolder(), 'spool') });

test('while the database is unavailable the sender gets 429 with Retry-After until the database is back, then 200, and one row is kept', async () => {
  const { inbox } = open();
  const options = { signingKey: SIGNING_KEY, ...inbox.route, onError: () => undefined };
  const answer = paymentCallbacks(options);
  const post = (): Promise<Response> => {
    const { signature, body } = signedText();
    const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
    return answer(new Request('https://shop.example/callbacks', { method: 'POST', headers, body }));
  };
  await until(async () => (await post()).status === 200);
  await server.kill('everything');
  const refused = await post();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await refused.json()).toEqual({ error: 'unavailable' });
  await server.restart();
  await until(async () => (await post()).status === 200);
  expect(await inbox.reports()).toHaveLength(1);
});

test('while the database is unavailable workers resume automatically, and what the outage interrupted is applied exactly once', async () => {
  const { inbox, direct, events, schema, newLedger } = open({ inbox: { retry: { firstDelayMs: 10 } } });
  const { credit, credits } = await newLedger();
  let runs = 0;
  inbox.handle('paid', async (transition) => {
    runs += 1;
    // Another handler may begin before this one has its effect.
    const isFirst = runs === 1;
    await credit(transition);
    if (isFirst) await server.kill('everything');
  });
  await order(inbox, ...REFERENCES);
  const stop = startWork(inbox, { concurrency: 2 });
  await until(() => events.some(({ name }) => name === 'store.unavailable'));
  await server.restart();
  await untilDone(async () => expect((await statesOf(inbox)).settled).toBe(6));
  await stop();
  expect(await credits()).toEqual(REFERENCES);
  expect((await direct.query(`select 1 from ${schema}.transition where unfinished > 0`)).rows).toEqual([]);
});

test('a database that does not respond is given up after storeTimeoutMs, and at most one statement waits there', async () => {
  const { inbox, direct, schema, hold } = open({ pool: { max: 4 }, inbox: { storeTimeoutMs: 300 } });
  await untilDone(() => inbox.ready());
  const unlock = await hold(`lock table ${schema}.transition in access exclusive mode`);
  const callbacks = Array.from({ length: 10 }, (_, index) => paid(`ORD-${index}`, 1));
  const refused = callbacks.map((each) =>
    expect(inbox.route.onCallback(each)).rejects.toThrow(UnavailableError),
  );
  await Promise.all(refused);
  for (const each of callbacks.slice(0, 3))
    await expect(inbox.route.onCallback(each)).rejects.toThrow('did not keep this callback (ETIMEDOUT)');
  expect(await inbox.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
  const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  // The statement of the first group waits; after the client, the server gives up as well.
  await until(async () => (await direct.query(waiting)).rows.length === 1);
  await unlock();
  for (const each of callbacks) await untilDone(() => inbox.route.onCallback(each));
  await until(async () => (await inbox.health()).ok);
  expect(await inbox.reports()).toHaveLength(10);
});

test('while the database is unavailable, the spool keeps callbacks, counts them, and stores them when the database is available again', async () => {
  const { inbox, events } = open({ inbox: newSpool() });
  for (let amount = 1; amount <= 8; amount += 1)
    await untilDone(() => inbox.route.onCallback(paid('A', amount)));
  await server.kill('everything');
  // At most 8 bodies of one transition, and the store accepts all acknowledged ones.
  for (let amount = 101; amount <= 108; amount += 1) await inbox.route.onCallback(paid('A', amount));
  await expect(inbox.route.onCallback(paid('A', 109))).rejects.toThrow(UnavailableError);
  await Promise.all(['B', 'C'].map((reference) => inbox.route.onCallback(paid(reference, 500))));
  const problems = ['spool_not_drained', 'store_unavailable'];
  expect(await inbox.health()).toMatchObject({ ok: false, problems, spooled: 10 });
  await server.restart();
  await until(() => events.some(({ name }) => name === 'spool.drained'));
  await until(async () => (await inbox.health()).ok);
  const listed = await inbox.reports();
  expect(listed.map(({ bodyCount }) => bodyCount).sort()).toEqual([1, 1, 16]);
  expect(await inbox.health()).toMatchObject({ spooled: 0 });
  await expect(inbox.route.onCallback(paid('A', 110))).rejects.toThrow(UnavailableError);
  await untilDone(() => inbox.route.onCallback(paid('E', 500)));
  expect(events.findLast(({ name }) => name.startsWith('callback.'))).toMatchObject({ outcome: 'new' });
});

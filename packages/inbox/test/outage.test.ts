import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '@payment-service/core/receive';
import { paymentCallbacks } from '@payment-service/express';
import { type PostgresServer, startPostgres } from '@payment-service/postgres-server';
import express from 'express';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PostgresTransaction } from '../src/index.ts';
import {
  createInbox,
  type Inbox,
  type InboxEvent,
  type InboxOptions,
  postgres,
  sqlite,
} from '../src/index.ts';
import { callback, paid, SIGNING_KEY, signedText } from './support/callbacks.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { until } from './support/until.ts';
import { startWork } from './support/working.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describe('the database is away', () => {
  it('Express answers 429 with Retry-After until the database is back, then 200, and one row is kept', async () => {
    const { inbox } = await open('http');
    const app = express();
    app.use(
      '/callbacks',
      paymentCallbacks({ signingKey: SIGNING_KEY, onCallback: inbox.receive, onError: () => {} }),
    );
    const url = `${await listen(createServer(app))}/callbacks`;
    expect((await post(url)).status).toBe(200);
    await server.kill('everything');
    const away = await post(url);
    expect(away.status).toBe(429);
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await away.json()).toEqual({ error: 'unavailable' });
    await server.restart();
    expect((await post(url)).status).toBe(200);
    expect(await inbox.list()).toMatchObject([{ deliveries: 2 }]);
  });

  it('a bare node:http server on the seam of core answers failureStatus until the database is back', async () => {
    const { inbox } = await open('bare');
    await inbox.ready();
    const receiver = createCallbackReceiver({
      signingKey: SIGNING_KEY,
      onCallback: inbox.receive,
      onAuthenticRefusal: inbox.quarantine,
      onError: () => undefined,
      failureStatus: 503,
    });
    const url = await listen(
      createServer(async (request, response) => {
        const { reply } = await receiveCallback(incomingCallback(request), receiver);
        if (reply === undefined) throw new Error('onCallback is set, so core answers.');
        response.writeHead(reply.status, reply.headers).end(reply.body);
      }),
    );
    await server.kill('everything');
    expect((await post(url)).status).toBe(503);
    expect((await post(url, 'ORD:1001')).status).toBe(503);
    await server.restart();
    expect((await post(url)).status).toBe(200);
    expect((await post(url, 'ORD:1001')).status).toBe(200);
    expect((await inbox.stats()).states).toMatchObject({ pending: 1, quarantined: 1 });
  });

  it('a database that does not answer is given up after storeTimeoutMs, and its connections are not kept', async () => {
    const { inbox, pool, schema } = await open('hung', { storeTimeoutMs: 2000 }, 3);
    await inbox.ready();
    const locker = new pg.Client({ connectionString: server.url });
    await locker.connect();
    await locker.query(`begin; lock table ${schema}.transition in access exclusive mode`);
    const attempts = Array.from({ length: 10 }, (_each, index) => inbox.receive(paid(`ORD-${index}`, 1)));
    await Promise.all(attempts.map((attempt) => expect(attempt).rejects.toThrow(UnavailableError)));
    await until(() => pool.totalCount === 0);
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
    await locker.query('rollback');
    await locker.end();
    await inbox.receive(callback());
    expect(await inbox.health()).toMatchObject({ ok: true });
  });

  it('a pool without a free connection is given up as well', async () => {
    const { inbox, pool } = await open('busy', { storeTimeoutMs: 2000 }, 1);
    await inbox.ready();
    const taken = await pool.connect();
    await expect(inbox.receive(callback())).rejects.toThrow(UnavailableError);
    taken.release();
    await inbox.receive(callback());
    expect(await inbox.list()).toHaveLength(1);
  });

  it('at the start, ready() rejects, and callbacks are refused until the database is there', async () => {
    const { inbox } = await open('start');
    await server.kill('everything');
    await expect(inbox.ready()).rejects.toThrow(/ECONNREFUSED/);
    await expect(inbox.receive(callback())).rejects.toThrow(UnavailableError);
    await server.restart();
    await inbox.receive(callback());
    expect(await inbox.list()).toHaveLength(1);
  });

  it('workers go on by themselves; what the outage interrupted is applied exactly once', async () => {
    const { inbox, pool, events, schema } = await open('worker');
    await pool.query(`create table if not exists ${schema}_credit (reference text)`);
    let runs = 0;
    inbox.handle(async ({ tx, signed }) => {
      runs += 1;
      // Another handler may begin before this one has its effect.
      const isFirst = runs === 1;
      await tx.query(`insert into ${schema}_credit values ($1)`, [signed.merchant_reference]);
      if (isFirst) await server.kill('everything');
    });
    for (const reference of ['A', 'B', 'C', 'D', 'E', 'F']) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      await inbox.receive(paid(reference, 500));
    }
    const stop = startWork(inbox, { concurrency: 2 });
    await until(() => events.some(({ name }) => name === 'store.unavailable'));
    await server.restart();
    await until(async () => (await inbox.stats().catch(() => undefined))?.states.settled === 6);
    await stop();
    const { rows } = await pool.query<{ reference: string }>(
      `select reference from ${schema}_credit order by reference`,
    );
    expect(rows.map(({ reference }) => reference)).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
    expect((await pool.query(`select * from ${schema}.start`)).rows).toEqual([]);
  });
});

describe('the spool', () => {
  it('acknowledges while the database is away, and hands over by itself when it is back', async () => {
    const spool = join(temporaryFolder(), 'spool.db');
    const { inbox, events } = await open('spooled', { spool });
    await inbox.receive(paid('BEFORE', 500));
    await server.kill('everything');
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('A', 500));
    await Promise.all(['B', 'C', 'D'].map((reference) => inbox.receive(paid(reference, 500))));
    expect(await inbox.health()).toEqual({
      ok: false,
      problems: ['spool_not_drained', 'store_unavailable'],
      oldestDueSeconds: undefined,
      spooled: 4,
    });
    await server.restart();
    await until(() => events.some(({ name }) => name === 'spool.drained'));
    expect((await inbox.list()).map(({ signed }) => signed.merchant_reference).sort()).toEqual([
      'A',
      'B',
      'BEFORE',
      'C',
      'D',
    ]);
    expect(await inbox.health()).toMatchObject({ ok: true, spooled: 0 });
    await inbox.receive(paid('AFTER', 500));
    expect(events.at(-1)).toMatchObject({ name: 'callback.received', outcome: 'new' });
  });

  it('keeps what it has for the next process, which hands it over at its start', async () => {
    const spool = join(temporaryFolder(), 'spool.db');
    const { inbox } = await open('next', { spool });
    await server.kill('everything');
    await expect(inbox.ready()).rejects.toThrow(/ECONNREFUSED/);
    await inbox.receive(paid('A', 500));
    await inbox.close();
    await server.restart();
    const next = await open('next', { spool });
    await next.inbox.ready();
    await until(() => next.events.some(({ name }) => name === 'spool.drained'));
    expect(await next.inbox.list()).toMatchObject([
      { state: 'pending', signed: { merchant_reference: 'A' } },
    ]);
    const [listed] = await next.inbox.list();
    const details = await next.inbox.show(listed?.transitionId ?? '');
    expect(JSON.parse(details?.bodies[0]?.text ?? '')).toEqual(paid('A', 500).raw);
  });

  it('takes at most 8 bodies of one transition, and the store takes all that were acknowledged', async () => {
    const spool = join(temporaryFolder(), 'spool.db');
    const { inbox, events } = await open('full', { spool });
    for (let amount = 1; amount <= 8; amount += 1) await inbox.receive(paid('A', amount));
    await server.kill('everything');
    for (let amount = 101; amount <= 108; amount += 1) await inbox.receive(paid('A', amount));
    await expect(inbox.receive(paid('A', 109))).rejects.toThrow(UnavailableError);
    await server.restart();
    await until(() => events.some(({ name }) => name === 'spool.drained'));
    expect(await inbox.list()).toMatchObject([{ bodyCount: 16 }]);
    await expect(inbox.receive(paid('A', 110))).rejects.toThrow(UnavailableError);
  });

  it('does not take what a misconfigured store refuses', async () => {
    const spool = join(temporaryFolder(), 'spool.db');
    const url = new URL(server.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    const { inbox } = await open('misconfigured', { spool }, 5, url.href);
    await expect(inbox.receive(callback())).rejects.toThrow(ConfigurationError);
    expect(await inbox.health().catch(() => undefined)).toMatchObject({ ok: false, spooled: 0 });
  });
});

describe('the SQLite file is held by somebody else', () => {
  it('is given up after storeTimeoutMs, and taken by the spool where there is one', async () => {
    const folder = temporaryFolder();
    const store = sqlite(join(folder, 'x.db'));
    const events: InboxEvent[] = [];
    const spooling = createInbox({
      store,
      storeTimeoutMs: 300,
      spool: join(folder, 'spool.db'),
      onEvent: (event) => events.push(event),
    });
    const bare = createInbox({ store, storeTimeoutMs: 300 });
    onTestFinished(async () => {
      await spooling.close();
      await bare.close();
    });
    await spooling.ready();
    await bare.ready();
    const other = new DatabaseSync(join(folder, 'x.db'));
    other.exec('begin immediate');
    await expect(bare.receive(paid('A', 1))).rejects.toThrow(UnavailableError);
    await spooling.receive(paid('B', 1));
    other.exec('rollback');
    other.close();
    await until(() => events.some(({ name }) => name === 'spool.drained'));
    await bare.receive(paid('C', 1));
    const kept = (await bare.list()).map(({ signed }) => signed.merchant_reference);
    expect(kept).toEqual(expect.arrayContaining(['B', 'C']));
  });
});

async function open(
  name: string,
  options: Partial<InboxOptions<PostgresTransaction>> = {},
  max = 10,
  connectionString = server.url,
): Promise<{ inbox: Inbox<PostgresTransaction>; pool: pg.Pool; events: InboxEvent[]; schema: string }> {
  const schema = `outage_${name}`;
  const events: InboxEvent[] = [];
  // Nobody listens to the errors of this pool: the inbox has to.
  const pool = new pg.Pool({ connectionString, max });
  const inbox = createInbox({
    store: postgres(pool, { schema }),
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(async () => {
    pool.on('error', () => undefined);
    await inbox.close();
    await pool.end();
  });
  return { inbox, pool, events, schema };
}

async function listen(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => http.close(() => resolve())));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function post(url: string, merchant_reference = 'ORD-1001'): Promise<Response> {
  const { signature, body } = signedText({ payload: { merchant_reference } });
  const headers = { 'content-type': 'application/json', 'hmac-signature': signature, connection: 'close' };
  return fetch(url, { method: 'POST', headers, body });
}

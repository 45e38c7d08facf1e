import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { paymentCallbacks } from '@payment-service/express';
import { type PostgresServer, startPostgres } from '@payment-service/postgres-server';
import express from 'express';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createInbox, type Inbox, type InboxEvent, type InboxOptions, postgres } from '../../src/index.ts';
import { callback, paid, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until, untilDone } from '../support/until.ts';
import { startWork } from '../support/working.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describe('the database is away', () => {
  it('Express answers 429 with Retry-After until the database is back, then 200, and one row is kept', async () => {
    const { inbox } = open('http');
    await inbox.ready();
    const app = express();
    const options = { signingKey: SIGNING_KEY, onCallback: inbox.receive, onError: () => undefined };
    app.use('/callbacks', paymentCallbacks(options));
    const http = createServer(app);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise((resolve) => http.close(() => resolve())));
    const post = (): Promise<Response> => {
      const { signature, body } = signedText();
      const headers = {
        'content-type': 'application/json',
        'hmac-signature': signature,
        connection: 'close',
      };
      const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/callbacks`;
      return fetch(url, { method: 'POST', headers, body });
    };
    await until(async () => (await post()).status === 200);
    await server.kill('everything');
    const away = await post();
    expect(away.status).toBe(429);
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await away.json()).toEqual({ error: 'unavailable' });
    await server.restart();
    await until(async () => (await post()).status === 200);
    expect(await inbox.list()).toHaveLength(1);
  });

  it('a database that does not answer is given up after storeTimeoutMs, and nothing waits there any more', async () => {
    const { inbox, pool, schema } = open('hung', { storeTimeoutMs: 500 }, 3);
    await untilDone(() => inbox.ready());
    const locker = new pg.Client({ connectionString: server.url });
    await locker.connect();
    await locker.query(`begin; lock table ${schema}.transition in access exclusive mode`);
    const attempts = Array.from({ length: 10 }, (_each, index) => inbox.receive(paid(`ORD-${index}`, 1)));
    await Promise.all(attempts.map((attempt) => expect(attempt).rejects.toThrow(UnavailableError)));
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
    await until(() => pool.idleCount === pool.totalCount);
    await locker.query('rollback');
    await locker.end();
    await untilDone(() => inbox.receive(callback()));
    await until(async () => (await inbox.health()).ok);
    // What was refused was not kept later.
    expect(await inbox.list()).toHaveLength(1);
  });

  it('workers go on by themselves; what the outage interrupted is applied exactly once', async () => {
    const { inbox, pool, events, schema } = open('worker', { retry: { firstDelayMs: 10 } });
    await pool.query(`create table ${schema}_credit (reference text)`);
    let runs = 0;
    inbox.handle(async ({ tx, signed }) => {
      runs += 1;
      // Another handler may begin before this one has its effect.
      const isFirst = runs === 1;
      await tx.query(`insert into ${schema}_credit values ($1)`, [signed.merchant_reference]);
      if (isFirst) await server.kill('everything');
    });
    for (const reference of REFERENCES) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      await untilDone(() => inbox.receive(paid(reference, 500)));
    }
    const stop = startWork(inbox, { concurrency: 2 });
    await until(() => events.some(({ name }) => name === 'store.unavailable'));
    await server.restart();
    await until(async () => (await inbox.stats().catch(() => undefined))?.states.settled === 6);
    await stop();
    const { rows } = await pool.query(`select reference from ${schema}_credit order by reference`);
    expect(rows.map(({ reference }) => reference)).toEqual(REFERENCES);
    expect((await pool.query(`select 1 from ${schema}.transition where unfinished > 0`)).rows).toEqual([]);
  });
});

describe('the database is away, and there is a spool', () => {
  it('acknowledges, says how many wait, and hands over by itself when the database is back', async () => {
    const { inbox, events } = open('spooled', { spool: newPath() });
    await untilDone(() => inbox.receive(paid('A', 500)));
    await server.kill('everything');
    await inbox.receive(paid('B', 500));
    await inbox.receive(paid('B', 500));
    await Promise.all(['C', 'D'].map((reference) => inbox.receive(paid(reference, 500))));
    const problems = ['spool_not_drained', 'store_unavailable'];
    expect(await inbox.health()).toMatchObject({ ok: false, problems, spooled: 4 });
    await server.restart();
    await until(() => events.some(({ name }) => name === 'spool.drained'));
    await until(async () => (await inbox.health()).ok);
    expect(await referencesIn(inbox)).toEqual(['A', 'B', 'C', 'D']);
    expect(await inbox.stats()).toMatchObject({ spooled: 0 });
    await untilDone(() => inbox.receive(paid('E', 500)));
    expect(events.findLast(({ name }) => name.startsWith('callback.'))).toMatchObject({ outcome: 'new' });
  });

  it('keeps what it has for the next process, which hands it over at its start', async () => {
    const spool = newPath();
    const { inbox } = open('next', { spool });
    await server.kill('everything');
    await expect(inbox.ready()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await inbox.receive(paid('A', 500));
    await inbox.close();
    await server.restart();
    const { inbox: next } = open('next', { spool });
    await untilDone(() => next.ready());
    await until(async () => (await referencesIn(next)).length === 1);
    const details = await next.show(paid('A', 500).transitionId);
    expect(JSON.parse(details?.bodies[0]?.text ?? '')).toEqual(paid('A', 500).raw);
  });

  it('takes at most 8 bodies of one transition, and the store takes all that were acknowledged', async () => {
    const { inbox } = open('full', { spool: newPath() });
    for (let amount = 1; amount <= 8; amount += 1) await untilDone(() => inbox.receive(paid('A', amount)));
    await server.kill('everything');
    for (let amount = 101; amount <= 108; amount += 1) await inbox.receive(paid('A', amount));
    await expect(inbox.receive(paid('A', 109))).rejects.toThrow(UnavailableError);
    await server.restart();
    await until(async () => (await inbox.health()).ok);
    expect((await inbox.show(paid('A', 1).transitionId))?.bodies).toHaveLength(16);
    await expect(inbox.receive(paid('A', 110))).rejects.toThrow(UnavailableError);
  });

  it('does not take what a misconfigured store refuses', async () => {
    const url = new URL(server.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    const { inbox } = open('misconfigured', { spool: newPath() }, 5, url.href);
    await expect(inbox.receive(callback())).rejects.toThrow(ConfigurationError);
    expect(await inbox.health()).toMatchObject({ ok: false, spooled: 0 });
  });
});

function open(
  name: string,
  options: Partial<InboxOptions<pg.PoolClient>> = {},
  max = 10,
  connectionString = server.url,
): { inbox: Inbox<pg.PoolClient>; pool: pg.Pool; events: InboxEvent[]; schema: string } {
  const schema = `outage_${name}`;
  const events: InboxEvent[] = [];
  const pool = new pg.Pool({ connectionString, max });
  // As every program has to: the errors of idle connections are the pool's own.
  pool.on('error', () => undefined);
  const onEvent = (event: InboxEvent): unknown => events.push(event);
  const inbox = createInbox({ store: postgres(pool, { schema }), onEvent, ...options });
  onTestFinished(async () => {
    await inbox.close();
    await pool.end();
  });
  return { inbox, pool, events, schema };
}

async function referencesIn(inbox: Inbox<pg.PoolClient>): Promise<string[]> {
  return (await inbox.list()).map(({ signed }) => signed.merchant_reference).sort();
}

function newPath(): string {
  return join(temporaryFolder(), 'spool');
}

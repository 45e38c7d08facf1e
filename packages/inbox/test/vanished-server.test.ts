import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, type InboxEvent, postgres } from '../src/index.ts';
import { paid } from './support/callbacks.ts';
import { silentProxy } from './support/silent-proxy.ts';
import { until, untilDone } from './support/until.ts';
import { startWork } from './support/working.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

// The connection that counts starts belongs to all lanes: each of the moments finds another connection at work.
it.each(['before the first handler', 'in a handler, before its effect', 'in a handler, after its effect'])(
  'a server that vanishes without a word (%s) stalls no worker, and everything is applied exactly once',
  async (moment) => {
    const proxy = await silentProxy(inject('postgresUrl'));
    const schema = `vanished_${moment.replaceAll(/\W/g, '_')}`;
    const direct = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 });
    // A connection that falls silent while it comes about is given up as well.
    const pool = new pg.Pool({ connectionString: proxy.url, max: 10, connectionTimeoutMillis: 1000 });
    const events: InboxEvent[] = [];
    const inbox = createInbox({
      store: postgres(pool, { schema }),
      storeTimeoutMs: 500,
      handlerTimeoutMs: 1000,
      retry: { firstDelayMs: 10 },
      onEvent: (event) => events.push(event),
    });
    onTestFinished(async () => {
      await inbox.close();
      await pool.end();
      await direct.end();
    });
    await direct.query(`create table ${schema}_credit (reference text)`);
    let runs = 0;
    inbox.handle(async ({ tx, signed }) => {
      runs += 1;
      const run = runs;
      if (run === 1 && moment.endsWith('before its effect')) proxy.silence();
      await tx.query(`insert into ${schema}_credit values ($1)`, [signed.merchant_reference]);
      if (run === 1 && moment.endsWith('after its effect')) proxy.silence();
    });
    for (const reference of REFERENCES) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
    }
    const stop = startWork(inbox, { concurrency: 2 });
    if (moment.startsWith('before')) {
      await untilDone(() => inbox.receive(paid('A', 500)));
      await until(() => events.some(({ name }) => name === 'transition.settled'));
      proxy.silence();
    }
    for (const reference of REFERENCES) {
      // The pool finds out about a silent connection by waiting for it.
      await untilDone(() => inbox.receive(paid(reference, 500)));
    }
    const settled = `select 1 from ${schema}.transition where state = 'settled'`;
    await until(async () => (await direct.query(settled)).rows.length === REFERENCES.length);
    await stop();
    const { rows } = await direct.query(`select reference from ${schema}_credit order by reference`);
    expect(rows.map(({ reference }) => reference)).toEqual(REFERENCES);
    expect(events.some(({ name }) => name === 'store.unavailable')).toBe(true);
  },
);

it.each(['before the commit', 'in a statement'])(
  'a server that vanishes without a word keeps no transaction() waiting (%s)',
  async (moment) => {
    const proxy = await silentProxy(inject('postgresUrl'));
    const schema = `vanished_tx_${moment.replaceAll(/\W/g, '_')}`;
    const direct = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 });
    const pool = new pg.Pool({ connectionString: proxy.url, max: 2, connectionTimeoutMillis: 1000 });
    const inbox = createInbox({
      store: postgres(pool, { schema }),
      storeTimeoutMs: 300,
      handlerTimeoutMs: 600,
    });
    onTestFinished(async () => {
      await inbox.close();
      await pool.end();
      await direct.end();
    });
    await inbox.ready();
    await direct.query(`create table ${schema}.orders (reference text)`);
    const failed = inbox.transaction(async (tx) => {
      await tx.query(`insert into ${schema}.orders values ('A')`);
      proxy.silence();
      if (moment === 'in a statement') await tx.query('select 1');
    });
    await expect(failed).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    // The pool finds out about a silent connection by waiting for it. On a machine that stands still, the answer to a
    // commit may be as late: each attempt has a reference of its own, and none is kept twice.
    let attempts = 0;
    await untilDone(() => {
      attempts += 1;
      return inbox.transaction((tx) => tx.query(`insert into ${schema}.orders values ('B-${attempts}')`));
    });
    const { rows } = await direct.query(`select reference from ${schema}.orders`);
    const kept = rows.map(({ reference }) => reference);
    const attempted = Array.from({ length: attempts }, (_each, index) => `B-${index + 1}`);
    expect(kept).toContain(`B-${attempts}`);
    expect(kept.toSorted()).toEqual(attempted.filter((reference) => kept.includes(reference)).toSorted());
  },
);

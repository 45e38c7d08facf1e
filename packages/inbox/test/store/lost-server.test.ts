import { randomBytes } from 'node:crypto';
import { UnavailableError } from '@payment-service/core';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, type Inbox, type InboxEvent, type InboxOptions, postgres } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { dyingServer } from '../support/dying-server.ts';
import { type SilentProxy, silentProxy } from '../support/silent-proxy.ts';
import { pause, until, untilDone } from '../support/until.ts';
import { startWork } from '../support/working.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

describe('a server that falls silent', () => {
  it.each(['before the first handler', 'in a handler, before its effect', 'in a handler, after its effect'])(
    '%s, stalls no worker, and everything is applied exactly once',
    async (moment) => {
      const { proxy, direct, inbox, schema, events } = await behindProxy({ handlerTimeoutMs: 500 });
      await direct.query(`create table ${schema}.credit (reference text)`);
      let runs = 0;
      let isSilent = false;
      const fallSilent = (): void => {
        proxy.silence();
        isSilent = true;
      };
      inbox.handle(async ({ tx, signed }) => {
        runs += 1;
        const run = runs;
        if (run === 1 && moment.endsWith('before its effect')) fallSilent();
        await tx.query(`insert into ${schema}.credit values ($1)`, [signed.merchant_reference]);
        if (run === 1 && moment.endsWith('after its effect')) fallSilent();
      });
      for (const reference of REFERENCES) {
        await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      }
      const stop = startWork(inbox, { concurrency: 2 });
      if (moment.startsWith('before')) {
        await untilDone(() => inbox.receive(paid('A', 500)));
        await until(() => events.some(({ name }) => name === 'transition.settled'));
        fallSilent();
      }
      const received = Promise.all(
        REFERENCES.map((reference) => untilDone(() => inbox.receive(paid(reference, 500)))),
      );
      // A network that comes back after a second: what was asked over it is told to be lost.
      await until(() => isSilent);
      await pause(1000);
      proxy.end();
      await received;
      const settled = `select 1 from ${schema}.transition where state = 'settled'`;
      await until(async () => (await direct.query(settled)).rows.length === REFERENCES.length);
      await stop();
      const { rows } = await direct.query(`select reference from ${schema}.credit order by reference`);
      expect(rows.map(({ reference }) => reference)).toEqual(REFERENCES);
    },
  );

  it('while callbacks come: each is answered, the next ones are kept, and none that was acknowledged is lost', async () => {
    const { proxy, direct, inbox, schema } = await behindProxy();
    await inbox.receive(paid('BEFORE', 500));
    proxy.silence();
    const answers = await Promise.allSettled(
      REFERENCES.map((reference) => inbox.receive(paid(reference, 500))),
    );
    expect(answers.map(({ status }) => status)).toContain('rejected');
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toBeInstanceOf(UnavailableError);
    }
    // Over new connections, although the silent ones still wait for their answers.
    for (const reference of REFERENCES) await untilDone(() => inbox.receive(paid(reference, 500)));
    const { rows } = await direct.query(`select transition_id from ${schema}.transition`);
    const ids = ['BEFORE', ...REFERENCES].map((reference) => paid(reference, 500).transitionId);
    expect(rows.map(({ transition_id }) => transition_id).toSorted()).toEqual(ids.toSorted());
  });
});

describe('a server that ends', () => {
  it('in the packet in which a connection comes about ends no process', async () => {
    const direct = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 });
    const pool = new pg.Pool({ connectionString: await dyingServer(inject('postgresUrl')), max: 5 });
    const events: InboxEvent[] = [];
    const options = { storeTimeoutMs: 500, onEvent: (event: InboxEvent) => events.push(event) };
    const inbox = createInbox({ store: postgres(pool, { schema: 'dying' }), ...options });
    onTestFinished(async () => {
      await inbox.close();
      await pool.end();
      await direct.end();
    });
    const sound = createInbox({ store: postgres(direct, { schema: 'dying' }) });
    await sound.ready();
    await sound.close();
    await expect(inbox.ready()).rejects.toThrow();
    await expect(inbox.receive(callback())).rejects.toThrow(UnavailableError);
    await expect(inbox.transaction(async () => undefined)).rejects.toThrow();
    inbox.handle(() => undefined);
    const stop = startWork(inbox, { concurrency: 2 });
    await until(() => events.filter(({ name }) => name === 'store.unavailable').length > 2);
    await stop();
  });

  it.each(['before', 'after'])(
    'in the commit of a callback or a handler, %s it is done: what was acknowledged is there, and applied once',
    async (moment) => {
      const { direct, pool, inbox, schema } = await behindProxy();
      await direct.query(`create table ${schema}.credit (reference text)`);
      inbox.handle(({ tx, signed }) =>
        tx.query(`insert into ${schema}.credit values ($1)`, [signed.merchant_reference]),
      );
      for (const reference of REFERENCES) {
        await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      }
      // Every third commit loses its connection.
      let commits = 0;
      let lost = 0;
      pool.on('connect', (client) => {
        const query = client.query.bind(client);
        const lose = async (): Promise<unknown> => {
          commits += 1;
          if (commits % 3 !== 0) return query('commit');
          lost += 1;
          const { rows } = await query('select pg_backend_pid() as id');
          if (moment === 'after') await query('commit');
          await direct.query('select pg_terminate_backend($1)', [rows[0]?.id]);
          return query('commit');
        };
        const intercepted = (...values: unknown[]): unknown =>
          values[0] === 'commit' ? lose() : Reflect.apply(query, client, values);
        Object.assign(client, { query: intercepted });
      });
      // So that all connections are new ones.
      await direct.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
        [schema],
      );
      const stop = startWork(inbox, { concurrency: 2 });
      for (const reference of REFERENCES) await untilDone(() => inbox.receive(paid(reference, 500)));
      const settled = `select 1 from ${schema}.transition where state = 'settled'`;
      await until(async () => (await direct.query(settled)).rows.length === REFERENCES.length);
      await stop();
      expect(lost).toBeGreaterThan(2);
      const { rows } = await direct.query(`select reference from ${schema}.credit order by reference`);
      expect(rows.map(({ reference }) => reference)).toEqual(REFERENCES);
    },
  );
});

interface Proxied {
  readonly proxy: SilentProxy;
  /** Past the proxy. */
  readonly direct: pg.Pool;
  readonly pool: pg.Pool;
  readonly inbox: Inbox<pg.PoolClient>;
  readonly schema: string;
  readonly events: InboxEvent[];
}

async function behindProxy(options: Partial<InboxOptions<pg.PoolClient>> = {}): Promise<Proxied> {
  const proxy = await silentProxy(inject('postgresUrl'));
  const schema = `proxied_${randomBytes(6).toString('hex')}`;
  const direct = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 });
  // A connection that falls silent while it comes about is given up as well.
  const times = { connectionTimeoutMillis: 1000, application_name: schema };
  const pool = new pg.Pool({ connectionString: proxy.url, max: 10, ...times });
  for (const each of [direct, pool]) each.on('error', () => undefined);
  const events: InboxEvent[] = [];
  const inbox = createInbox({
    store: postgres(pool, { schema }),
    storeTimeoutMs: 500,
    retry: { firstDelayMs: 10, longestDelayMs: 100 },
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(async () => {
    proxy.end();
    await inbox.close();
    await pool.end();
    await direct.end();
  });
  await untilDone(() => inbox.ready());
  return { proxy, direct, pool, inbox, schema, events };
}

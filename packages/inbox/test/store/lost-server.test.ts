import { UnavailableError } from '@payment-service/core';
import { expect, inject, onTestFinished, test } from 'vitest';
import { type InboxEvent, postgres } from '../../src/index.ts';
import type { Call } from '../../src/store/store.ts';
import { callback, paid } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { dyingServer, silentProxy } from '../support/proxy.ts';
import { order } from '../support/shop.ts';
import { isSettlement, watchedStore } from '../support/store.ts';
import { pause, signal, startWork, until, untilDone, workUntil } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

test.each(['before the first handler', 'in a handler, before its effect', 'in a handler, after its effect'])(
  'a server that falls silent %s, stalls no worker, and everything is applied exactly once',
  async (moment) => {
    const { proxy, inbox, events, areSettled, newLedger } = await behindProxy();
    const { credit, credits } = await newLedger();
    let runs = 0;
    const silent = signal();
    const fallSilent = (): void => {
      proxy.silence();
      silent.give();
    };
    inbox.handle('paid', async (transition) => {
      runs += 1;
      const isFirst = runs === 1;
      if (isFirst && moment.endsWith('before its effect')) fallSilent();
      await credit(transition);
      if (isFirst && moment.endsWith('after its effect')) fallSilent();
    });
    const stop = startWork(inbox, { concurrency: 2 });
    if (moment.startsWith('before')) {
      await order(inbox, 'A');
      await until(() => events.some(({ name }) => name === 'transition.settled'));
      fallSilent();
    }
    const ordered = Promise.all(REFERENCES.map((reference) => untilDone(() => order(inbox, reference))));
    // The network recovers: requests over it are reported as lost.
    await silent.promise;
    await pause(600);
    proxy.end();
    await ordered;
    await until(areSettled);
    await stop();
    expect(await credits()).toEqual(REFERENCES);
    expect(settledIn(events)).toEqual(REFERENCES);
  },
);

test('a server that falls silent while callbacks arrive leaves none unanswered, stores the next ones, and loses none that was acknowledged', async () => {
  const { proxy, pool, open, schema } = await behindProxy();
  let [isNext, isLookedFor] = [false, false];
  const store = watchedStore(postgres(pool, { schema }), async (text, run) => {
    if (isNext && text.includes('.transition (')) {
      proxy.silence();
      isNext = false;
    }
    const rows = await run();
    isLookedFor ||= text.includes('min(next_at)');
    return rows;
  });
  const inbox = open({ store, storeTimeoutMs: 500 });
  await untilDone(() => inbox.route.onCallback(paid('BEFORE', 500)));
  // The check for a worker, after the first callback, has finished: the next statement gets a connection that falls silent.
  await until(() => isLookedFor && pool.idleCount === pool.totalCount);
  isNext = true;
  let refusals = 0;
  const receive = (reference: string): Promise<void> =>
    inbox.route.onCallback(paid(reference, 500)).catch((error: unknown) => {
      refusals += 1;
      expect(error).toBeInstanceOf(UnavailableError);
      throw error;
    });
  await Promise.all(REFERENCES.map((reference) => untilDone(() => receive(reference))));
  // The silent connection holds up only its own group: if that never ended, there would be a refusal every half second.
  expect(refusals).toBeGreaterThan(0);
  expect(refusals).toBeLessThan(10 * REFERENCES.length);
  const listed = (await inbox.reports()).map(({ signed }) => signed.merchant_reference);
  expect(listed.sort()).toEqual([...REFERENCES, 'BEFORE'].sort());
});

test('a server that falls silent in the middle of health() does not make it hang', async () => {
  const { proxy, pool, open, schema } = await behindProxy();
  let isReady = false;
  const store = watchedStore(postgres(pool, { schema }), (text, run) => {
    if (isReady && text.includes('.transition (')) proxy.silence();
    return run();
  });
  const inbox = open({ store, storeTimeoutMs: 500 });
  await inbox.ready();
  isReady = true;
  // Without storeTimeoutMs, the statement would wait for 15 seconds.
  const answer = await Promise.race([inbox.health(), pause(10_000)]);
  expect(answer).toMatchObject({ ok: false, problems: ['store_unavailable'] });
});

test('a server that ends in the packet that completes a connection does not crash the process', async () => {
  const { inbox: sound, schema } = poolShop();
  await sound.ready();
  const connectionString = await dyingServer(inject('postgresUrl'));
  const limits = { storeTimeoutMs: 500, random: () => 0 };
  const { inbox, events } = poolShop({ schema, pool: { connectionString, max: 5 }, inbox: limits });
  await expect(inbox.ready()).rejects.toThrow();
  await expect(inbox.route.onCallback(callback())).rejects.toThrow(UnavailableError);
  await expect(inbox.transaction(async () => undefined)).rejects.toThrow();
  inbox.handle('paid', () => undefined);
  await workUntil(inbox, () => events.filter(({ name }) => name === 'store.unavailable').length > 2);
});

test.each(['before', 'after'])(
  'a server that ends in the commit of a callback or a handler, %s it is done, loses nothing, and everything is applied and told once (threat A77)',
  async (moment) => {
    const { direct, pool, inbox, events, schema, areSettled, newLedger } = await behindProxy();
    const { credit, credits } = await newLedger();
    inbox.handle('paid', credit);
    // Every fourth or fifth commit loses its connection: with a fixed step, it could always be the same commit of each
    // attempt. The first settlement does, too.
    const isLost = (commit: number): boolean => Math.floor(commit * 0.236) > Math.floor((commit - 1) * 0.236);
    let [count, lost, settlements] = [0, 0, 0];
    pool.on('connect', (client) => {
      const query = client.query.bind(client);
      const end = async (): Promise<unknown> =>
        direct.query('select pg_terminate_backend($1)', [Reflect.get(client, 'processID')]);
      const lose = async (commit: () => unknown, message: unknown): Promise<unknown> => {
        lost += 1;
        const { calls, callback: answer } = Object(message);
        if (moment === 'after' && calls !== undefined) {
          // Of a message with several statements, the callback is what gets the reply.
          const callback = () => void end().then(() => answer(new Error('The connection was lost.'), []));
          return Reflect.apply(query, client, [Object.assign(Object(message), { callback })]);
        }
        if (moment === 'after') await commit();
        await end();
        return commit();
      };
      const intercepted = (...values: unknown[]): unknown => {
        const run = (): unknown => Reflect.apply(query, client, values);
        const calls: readonly Call[] = Reflect.get(Object(values[0]), 'calls') ?? [];
        const own = Reflect.get(Object(values[0]), 'text') ?? calls.at(-1)?.statement.text ?? values[0];
        // First deliveries and the start of an attempt commit automatically, and a settlement includes its COMMIT.
        const commits = /^commit$|insert into \S+\.callback|unfinished \+ 1/;
        if (!commits.test(String(own))) return run();
        count += 1;
        const isSettling = calls.some(({ statement }) => isSettlement(statement.text));
        if (isSettling) settlements += 1;
        return isLost(count) || (isSettling && settlements === 1) ? lose(run, values[0]) : run();
      };
      Object.assign(client, { query: intercepted });
    });
    // So that all connections are new ones.
    const end = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1';
    await direct.query(end, [schema]);
    const stop = startWork(inbox, { concurrency: 2 });
    for (const reference of REFERENCES) await untilDone(() => order(inbox, reference));
    await until(areSettled);
    await stop();
    expect(lost).toBeGreaterThan(2);
    expect(await credits()).toEqual(REFERENCES);
    expect(settledIn(events)).toEqual(REFERENCES);
  },
);

/** The references of the settlements that were told. */
function settledIn(events: readonly InboxEvent[]): (string | undefined)[] {
  const references = new Map(REFERENCES.map((each) => [paid(each, 500).transitionId, each]));
  const told = events.filter(({ name }) => name === 'transition.settled');
  return told.map((event) => references.get('transitionId' in event ? event.transitionId : '')).sort();
}

async function behindProxy() {
  const proxy = await silentProxy(inject('postgresUrl'));
  const schema = `proxied_${process.hrtime.bigint()}`;
  const shop = poolShop({
    schema,
    // A connection that falls silent while it is established is abandoned as well.
    pool: { connectionString: proxy.url, connectionTimeoutMillis: 1000, application_name: schema },
    inbox: { storeTimeoutMs: 500, handlerTimeoutMs: 500, retry: { firstDelayMs: 10, longestDelayMs: 100 } },
  });
  onTestFinished(() => proxy.end());
  await untilDone(() => shop.inbox.ready());
  /** Whether all of REFERENCES are settled, queried without the proxy. */
  const areSettled = async (): Promise<boolean> => {
    const settled = `select 1 from ${schema}.transition where state = 'settled'`;
    return (await shop.direct.query(settled)).rows.length === REFERENCES.length;
  };
  return { ...shop, proxy, areSettled };
}

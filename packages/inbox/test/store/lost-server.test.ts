import { expect, inject, onTestFinished, test } from 'vitest';
import { poolShop } from '../support/pool-shop.ts';
import { silentProxy } from '../support/proxy.ts';
import { order } from '../support/shop.ts';
import { pause, signal, startWork, until, untilDone } from '../support/until.ts';

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
    inbox.handle(async (transition) => {
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
  },
);

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

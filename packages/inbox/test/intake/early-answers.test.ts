import type { CallbackOptions } from '@payment-service/core/receive';
import { paymentCallbacks } from '@payment-service/fetch';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InboxOptions } from '../../src/index.ts';
import { SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { until, untilDone } from '../support/until.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

type Handler = NonNullable<CallbackOptions['onCallback']>;
type Problem = Parameters<NonNullable<InboxOptions<unknown>['onError']>>;

/** A route whose `onCallback` is written by a merchant. */
function shop(write: (keep: Handler) => Handler) {
  const problems: string[] = [];
  const onError = (...[error, { kind }]: Problem) => problems.push(`${kind}: ${Object(error).message}`);
  const { inbox } = poolShop({ server: server.url, inbox: { onError } });
  const rejected: Error[] = [];
  // The promise that a handler drops would otherwise end the process.
  const keep: Handler = (callback) => {
    const keeping = inbox.route.onCallback(callback);
    keeping.catch((error) => rejected.push(error));
    return keeping;
  };
  const options = { signingKey: SIGNING_KEY, ...inbox.route, onError: () => undefined };
  const route = paymentCallbacks({ ...options, onCallback: write(keep) });
  const post = async (): Promise<number> => {
    const { signature, body } = signedText();
    const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
    const request = new Request('https://shop.example/callbacks', { method: 'POST', headers, body });
    return (await route(request)).status;
  };
  return { inbox, post, problems, rejected };
}

const dropped: ((keep: Handler) => Handler)[] = [
  (keep) => (callback) => {
    keep(callback);
  },
  (keep) => async (callback) => {
    keep(callback);
  },
];
const early =
  'answered_early: The program answered 200 before the inbox had kept a callback, so callbacks are lost while the database is ' +
  'unavailable. Return the promise, as in onCallback: (callback) => inbox.route.onCallback(callback), or spread inbox.route ' +
  'into paymentCallbacks().';

test.each(dropped)('threat A82: a dropped promise is reported at the first callback, once', async (write) => {
  const { inbox, post, problems } = shop(write);
  await untilDone(() => inbox.ready());
  for (let callback = 0; callback < 3; callback += 1) expect(await post()).toBe(200);
  await until(() => problems.length > 0);
  expect(await inbox.reports()).toHaveLength(1);
  expect(problems).toEqual([early]);
});

test('threat A82: a dropped promise whose callback is not kept says that 200 was answered, not that the sender retries', async () => {
  const [write = expect.fail()] = dropped;
  const { inbox, post, problems, rejected } = shop(write);
  await untilDone(() => inbox.ready());
  await server.kill('everything');
  expect(await post()).toBe(200);
  await until(() => rejected.length > 0);
  await server.restart();
  expect(rejected[0]?.message).toMatch(
    /^The program answered 200 before the inbox had kept this callback.*Return/,
  );
  expect(rejected[0]?.cause).toMatchObject({ name: 'UnavailableError' });
  expect(problems).toEqual([early]);
});

test('a handler that returns the promise, awaits it, or keeps a callback twice is never reported', async () => {
  const awaiting: ((keep: Handler) => Handler)[] = [
    (keep) => keep,
    (keep) => async (callback) => {
      await keep(callback);
    },
    (keep) => (callback) => Promise.all([keep(callback), keep(callback)]),
  ];
  for (const write of awaiting) {
    const { inbox, post, problems } = shop(write);
    await untilDone(() => inbox.ready());
    expect(await post()).toBe(200);
    expect(await post()).toBe(200);
    expect(await inbox.reports()).toHaveLength(1);
    expect(problems).toEqual([]);
  }
});

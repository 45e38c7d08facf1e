import { expect, test } from 'vitest';
import type { RetrySettings } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';
import { startMerchant } from './support/merchant.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();
const attemptsOf = () =>
  stage.sandbox
    .deliveries()
    .map(({ state, attempts }) => [state, ...attempts.map(({ status, error }) => status ?? error)]);

/** From now on the merchant responds with these statuses, one after another; `undefined` hangs up. */
const answers = (...statuses: (number | undefined)[]): void => {
  const from = stage.merchant.received.length + 1;
  stage.merchant.answer = (response) => {
    const status = statuses[Math.min(stage.merchant.received.length - from, statuses.length - 1)];
    if (status === undefined) response.destroy();
    else response.writeHead(status, { location: '/elsewhere' }).end('why');
  };
};

const WAITS = { backoff_ms: 3000, backoff_factor: 10, max_backoff_ms: 5000 };
const RULES = { ...WAITS, accepted: [204], repeated: [200, 409] };
test.each([
  ['doubles from a second until a 2xx', {}, [500, 401, 302, 202], [1000, 2000, 4000], 'delivered'],
  [
    'follows the rules for what counts, what is repeated and the wait',
    RULES,
    [200, 409, 410],
    [3000, 5000],
    'given_up',
  ],
])('the wait between attempts %s', async (_, retry, statuses, expected, state) => {
  const clock = createManualClock();
  answers(...statuses);
  stage.open({ clock, retry });
  stage.collect();
  const waits: number[] = [];
  while (waits.length < expected.length) {
    await until(() => clock.sleeping().length > 0);
    waits.push(...clock.sleeping());
    clock.move(waits.at(-1) ?? 0);
  }
  await stage.sandbox.idle();
  expect(waits).toEqual(expected);
  expect(attemptsOf()).toEqual([[state, ...statuses]]);
  expect(stage.sandbox.deliveries()[0]?.attempts[0]?.response?.body).toBe('why');
  expect(clock.sleeping()).toEqual([]);
});

test.each([false, true])(
  'threat A28: an attempt repeats the first t, unless set to sign again: %s',
  async (resign) => {
    answers(500);
    const clock = createManualClock(Date.UTC(2026, 0, 2));
    stage.open({ clock, retry: { max_attempts: 2, backoff_ms: 60_000, resign } });
    stage.collect();
    await until(() => clock.sleeping().length > 0);
    clock.move(60_000);
    await stage.sandbox.idle();
    const { received } = stage.merchant;
    const stamps = received.map(({ headers }) => String(headers['hmac-signature']).slice(2, 12));
    expect(stamps).toEqual(['1767312000', resign ? '1767312060' : '1767312000']);
    expect(received.map(stage.verdict)).toEqual(['ORD-1', 'ORD-1']);
  },
);

test.each([
  ['not-2xx', [undefined, 302, 404, 429, 500, 503], []],
  ['5xx-and-429', [undefined, 429, 500, 503], [302, 404]],
  ['below-500', [undefined, 302, 404, 429], [500, 503]],
  ['none', [], [undefined, 302, 404, 429, 500, 503]],
] as const)(
  'the preset %s repeats %j until max_attempts, gives up after %j, and delivers with 2xx',
  async (preset, repeats, ends) => {
    stage.open({ retry: { preset, max_attempts: 3, backoff_ms: 0 } });
    for (const status of [...repeats, ...ends, 204]) {
      answers(status);
      await stage.deliver();
    }
    const [repeated, ended] = [repeats, ends].map((list) => list.map((one) => one ?? 'ECONNRESET'));
    expect(attemptsOf()).toEqual([
      ...(repeated ?? []).map((one) => ['given_up', one, one, one]),
      ...(ended ?? []).map((one) => ['given_up', one]),
      ['delivered', 204],
    ]);
  },
);

test.each<[string, RetrySettings, RetrySettings, (number | string)[]]>([
  ['a request overrides it', { preset: 'below-500' }, { preset: '5xx-and-429' }, ['given_up', 500, 500]],
  ['a rule overrides its preset', { preset: 'not-2xx', accepted: [200] }, {}, ['given_up', 202, 202]],
])('%s', async (_, own, asked, attempts) => {
  answers(Number(attempts[1]));
  stage.open({ retry: { max_attempts: 2, backoff_ms: 0, ...own } });
  await stage.deliver({ retry: asked });
  expect(attemptsOf()).toEqual([attempts]);
});

test('a receiver that refuses or stalls gives an attempt with its reason', async () => {
  stage.open({ retry: { max_attempts: 1 }, deliveryTimeoutMs: 100 });
  stage.merchant.answer = () => {};
  await stage.deliver();
  // The headers arrive, but the body does not end.
  stage.merchant.answer = (response) => void response.write('a');
  await stage.deliver();
  const gone = await startMerchant();
  await gone.close();
  await stage.deliver({ callback_url: gone.url });
  const late = { error: 'no answer within 100 ms', error_code: 'TIMEOUT' };
  expect(stage.sandbox.deliveries()).toMatchObject([
    { state: 'given_up', attempts: [{ status: null, ...late }] },
    { state: 'given_up', attempts: [{ status: 200, ...late }] },
    { state: 'given_up', attempts: [{ status: null, error: 'ECONNREFUSED' }] },
  ]);
});

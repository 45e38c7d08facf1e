import { describe, expect, test } from 'vitest';
import { collection } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { startMerchant } from './support/merchant.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();

describe('retries', () => {
  const attemptsOf = () =>
    stage.sandbox
      .deliveries()
      .map(({ state, attempts }) => [state, ...attempts.map(({ status, error }) => status ?? error)]);

  test('repeats with backoff until a 2xx, and records every attempt', async () => {
    const clock = createManualClock();
    stage.merchant.answer = (response) => {
      response.statusCode = [500, 401, 302, 202][stage.merchant.received.length - 1] ?? 599;
      response.setHeader('location', '/elsewhere');
      response.end('why');
    };
    stage.open({ clock }).collect(collection);
    const waits: number[] = [];
    for (let attempt = 1; attempt < 4; attempt += 1) {
      await until(() => clock.sleeping().length > 0);
      waits.push(...clock.sleeping());
      clock.move(waits.at(-1) ?? 0);
    }
    await stage.sandbox.idle();
    expect(waits).toEqual([1000, 2000, 4000]);
    expect(attemptsOf()).toEqual([['delivered', 500, 401, 302, 202]]);
    expect(stage.sandbox.deliveries()[0]?.attempts[0]?.response?.body).toBe('why');
    expect(clock.sleeping()).toEqual([]);
  });

  test('threat A28: repeats the first t, unless set to sign again', async () => {
    stage.merchant.answer = (response) => response.writeHead(500).end();
    for (const resign of [false, true]) {
      const clock = createManualClock(Date.UTC(2026, 0, 2));
      stage.open({ clock, retry: { max_attempts: 2, backoff_ms: 60_000, resign } }).collect(collection);
      await until(() => clock.sleeping().length > 0);
      clock.move(60_000);
      await stage.sandbox.idle();
      await stage.sandbox.close();
    }
    const stamps = stage.merchant.received.map(({ headers }) =>
      String(headers['hmac-signature']).slice(0, 12),
    );
    expect(stamps).toEqual(['t=1767312000', 't=1767312000', 't=1767312000', 't=1767312060']);
    expect(stage.merchant.received.map(stage.verdict).slice(2)).toEqual(['ORD-1', 'ORD-1']);
  });

  test('gives up after max_attempts', async () => {
    stage.merchant.answer = (response) => response.writeHead(503).end();
    stage.open({ retry: { max_attempts: 3, backoff_ms: 0 } }).collect(collection);
    await stage.sandbox.idle();
    expect(attemptsOf()).toEqual([['given_up', 503, 503, 503]]);
  });

  test('options say which statuses count and which are retried; backoff is capped', async () => {
    const clock = createManualClock();
    stage.merchant.answer = (response) => {
      response.statusCode = [200, 409, 410][stage.merchant.received.length - 1] ?? 599;
      response.end();
    };
    const retry = {
      accepted: [204],
      repeated: [200, 409],
      backoff_ms: 3000,
      backoff_factor: 10,
      max_backoff_ms: 5000,
    };
    stage.open({ clock, retry }).collect(collection);
    const waits: number[] = [];
    for (let attempt = 1; attempt < 3; attempt += 1) {
      await until(() => clock.sleeping().length > 0);
      waits.push(...clock.sleeping());
      clock.move(waits.at(-1) ?? 0);
    }
    await stage.sandbox.idle();
    expect(waits).toEqual([3000, 5000]);
    expect(attemptsOf()).toEqual([['given_up', 200, 409, 410]]);
  });

  test.each([
    ['not-2xx', [302, 404, 429, 500, 503], []],
    ['5xx-and-429', [429, 500, 503], [302, 404]],
    ['below-500', [302, 404, 429], [500, 503]],
  ] as const)(
    'preset %s repeats %j, gives up after %j, and delivers with 2xx',
    async (preset, repeats, ends) => {
      stage.open({ retry: { preset, max_attempts: 2, backoff_ms: 0 } });
      for (const status of [...repeats, ...ends, 204]) {
        stage.merchant.answer = (response) => {
          response.statusCode = status;
          response.end();
        };
        stage.sandbox.collect(collection);
        await stage.sandbox.idle();
      }
      expect(attemptsOf()).toEqual([
        ...repeats.map((status) => ['given_up', status, status]),
        ...ends.map((status) => ['given_up', status]),
        ['delivered', 204],
      ]);
    },
  );

  test.each(['not-2xx', '5xx-and-429', 'below-500'] as const)(
    'preset %s repeats an attempt without a complete answer',
    async (preset) => {
      stage.merchant.answer = (response) => {
        if (stage.merchant.received.length === 1) response.destroy();
        else response.end();
      };
      stage.open({ retry: { preset, backoff_ms: 0 } }).collect(collection);
      await stage.sandbox.idle();
      expect(attemptsOf()).toEqual([['delivered', 'ECONNRESET', 200]]);
    },
  );

  test('the preset none sends once, whatever the answer', async () => {
    stage.open({ retry: { preset: 'none' } });
    for (const status of [undefined, 429, 500, 204]) {
      stage.merchant.answer = (response) => {
        if (status === undefined) response.destroy();
        else response.writeHead(status).end();
      };
      stage.sandbox.collect(collection);
      await stage.sandbox.idle();
    }
    expect(attemptsOf()).toEqual([
      ['given_up', 'ECONNRESET'],
      ['given_up', 429],
      ['given_up', 500],
      ['delivered', 204],
    ]);
  });

  test('a request overrides the preset of the sandbox', async () => {
    stage.merchant.answer = (response) => response.writeHead(500).end();
    stage.open({ retry: { preset: 'below-500', max_attempts: 2, backoff_ms: 0 } });
    stage.sandbox.collect(collection);
    stage.sandbox.collect({ ...collection, retry: { preset: '5xx-and-429' } });
    await stage.sandbox.idle();
    expect(attemptsOf()).toEqual([
      ['given_up', 500],
      ['given_up', 500, 500],
    ]);
  });

  test.each([
    [
      'a rule overrides its preset',
      202,
      { preset: 'not-2xx', accepted: [200], max_attempts: 2, backoff_ms: 0 },
      ['given_up', 202, 202],
    ],
    ['a status class such as 4xx is accepted', 404, { accepted: ['4xx'] }, ['delivered', 404]],
  ] as const)('%s', async (_, status, retry, attempts) => {
    stage.merchant.answer = (response) => response.writeHead(status).end();
    stage.open({ retry }).collect(collection);
    await stage.sandbox.idle();
    expect(attemptsOf()).toEqual([attempts]);
  });

  test('a receiver that refuses, hangs up or stalls gives an attempt with its reason', async () => {
    stage.open({ retry: { max_attempts: 1 }, deliveryTimeoutMs: 100 });
    stage.merchant.answer = (response) => response.destroy();
    stage.sandbox.collect(collection);
    await stage.sandbox.idle();
    stage.merchant.answer = () => {};
    stage.sandbox.collect(collection);
    await stage.sandbox.idle();
    // The headers come, and the body does not end.
    stage.merchant.answer = (response) => void response.write('a');
    stage.sandbox.collect(collection);
    await stage.sandbox.idle();
    const gone = await startMerchant();
    await gone.close();
    stage.sandbox.collect({ ...collection, callback_url: gone.url });
    await stage.sandbox.idle();
    const [hungUp, stalled, endless, refused] = stage.sandbox
      .deliveries()
      .flatMap(({ attempts }) => attempts);
    expect(hungUp).toMatchObject({ status: null, error: 'ECONNRESET' });
    expect(stalled).toMatchObject({ status: null, error: 'no answer within 100 ms', error_code: 'TIMEOUT' });
    expect(endless).toMatchObject({ status: 200, error: 'no answer within 100 ms', error_code: 'TIMEOUT' });
    expect(refused).toMatchObject({ status: null, error: 'ECONNREFUSED' });
    expect(new Set(stage.sandbox.deliveries().map(({ state }) => state))).toEqual(new Set(['given_up']));
  });

  test('only the start of an answer is kept, and the rest is not read', async () => {
    let written = 0;
    stage.merchant.answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536;
        response.once('drain', more);
      };
      more();
    };
    stage.open({ retry: { max_attempts: 1 } }).collect(collection);
    await stage.sandbox.idle();
    const [delivery] = stage.sandbox.deliveries();
    expect(delivery?.attempts[0]?.response?.body).toBe('x'.repeat(16_384));
    expect(delivery?.state).toBe('delivered');
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });
});

import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createInbox, postgres, sqlite } from '../src/index.ts';
import { backoff } from '../src/options.ts';
import { ENGINES } from './support/merchant.ts';
import { newDueShop } from './support/shop.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { startWork, until } from './support/until.ts';

const HOUR = 3_600_000;
const MOST = 2 ** 31 - 1;

const hidden = (text: string): string => Buffer.from(text).toString('base64');
const shown = (text: string): string => Buffer.from(text, 'base64').toString();

const emptyStore = () => sqlite(join(temporaryFolder(), 'x.db'));

describe('options', () => {
  const wrong: Record<string, readonly unknown[]> = {
    store: [undefined, { name: 'redis' }],
    account: [7, 'a\0b', 'x'.repeat(201), '\ud800'],
    spool: [':memory:'],
    bodies: ['none', true],
    encryption: [
      ...[null, 'aes', {}, { seal: hidden }, { open: shown }, { seal: hidden, open: 'open' }],
      { seal: (text: string) => text, open: (text: string) => text }, // hides nothing
      { seal: hidden, open: hidden }, // restores another string
      { seal: async (text: string) => hidden(text), open: shown },
      { seal: (text: string) => `${hidden(text)}\0`, open: shown },
      { seal: hidden, open: () => Promise.reject(new Error('no key')).catch(() => undefined) },
      {
        seal: () => {
          throw new Error('no key');
        },
        open: shown,
      },
    ],
    onEvent: ['log'],
    onError: ['log'],
    now: [Date.now],
    statuses: [['COMPLETED']],
    random: [null],
    allowTransitions: [{ COMPLETED: 'FAILED' }, null],
    completedEvents: ['transaction.completed'],
    interimStatuses: [[1]],
    storeTimeoutMs: [0, Number.NaN, 600_001],
    handlerTimeoutMs: [1.5, HOUR + 1],
    handlerLockTimeoutMs: [HOUR + 1],
    'retry.attempts': [0, MOST + 1],
    'retry.firstDelayMs': [MOST + 1],
    'retry.longestDelayMs': [Number.POSITIVE_INFINITY],
  };
  test.each(Object.entries(wrong))(
    'of createInbox() are checked, and the error names %s',
    (option, values) => {
      const [name = '', field] = option.split('.');
      for (const value of values) {
        const given = { store: emptyStore(), [name]: field === undefined ? value : { [field]: value } };
        const create = (): unknown => Reflect.apply(createInbox, undefined, [given]);
        expect(create).toThrow(ConfigurationError);
        const limit =
          { storeTimeoutMs: 600_000, handlerTimeoutMs: HOUR, handlerLockTimeoutMs: HOUR }[name] ?? MOST;
        const message = expect.stringContaining(/Ms$|retry/.test(name) ? `from 1 to ${limit}` : name);
        expect(create).toThrow(expect.objectContaining({ option, message }));
      }
    },
  );

  test('encryption with functions that hide a string and restore it is accepted', () => {
    expect(() =>
      createInbox({ store: emptyStore(), encryption: { seal: hidden, open: shown } }),
    ).not.toThrow();
  });

  test('of postgres() must be a pool and a simple identifier', () => {
    const pool = { connect: () => undefined, on: () => undefined };
    for (const wrong of [undefined, {}, { connect: 5 }])
      expect(() => Reflect.apply(postgres, undefined, [wrong])).toThrow(ConfigurationError);
    for (const schema of ['', 'Upper', 'with space', 'a;b', 'pg_x', 'a"b', 'x'.repeat(64)])
      expect(() => Reflect.apply(postgres, undefined, [pool, { schema }])).toThrow(ConfigurationError);
  });

  test('of calls are validated, and the error names the option', async () => {
    const inbox = createInbox({ store: emptyStore() });
    onTestFinished(() => inbox.close());
    inbox.handle(() => undefined);
    const { signal } = new AbortController();
    const lists = [
      ...[{ merchant_reference: 7 }, { merchant_reference: null }, { internal_reference: ['ORD-1'] }],
      ...[{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { state: "x' or 1=1" }, { reason: 7 }],
      ...[{ since: '2026-01-01' }, { until: new Date(Number.NaN) }, { after: 'x' }],
    ];
    for (const options of lists) {
      const option = Object.keys(options)[0];
      await expect(Reflect.apply(inbox.list, undefined, [options])).rejects.toMatchObject({ option });
    }
    const calls = {
      concurrency: inbox.work({ signal, concurrency: 0 }),
      pollMs: inbox.work({ signal, pollMs: HOUR + 1 }),
      signal: Reflect.apply(inbox.work, undefined, [{ signal: 'no' }]),
      maxPendingAgeSeconds: inbox.health({ maxPendingAgeSeconds: 0 }),
      bodiesOlderThanDays: inbox.prune({ bodiesOlderThanDays: Number.NaN }),
      limit: inbox.overdue({ limit: 0.5 }),
      transitionId: inbox.show('A'.repeat(64)),
      body: Reflect.apply(inbox.transaction, undefined, ['insert …']),
    };
    for (const [option, call] of Object.entries(calls))
      await expect(call).rejects.toMatchObject({ name: 'ConfigurationError', option });
  });
});

describe('the wait after an attempt', () => {
  const retry = { attempts: 40, firstDelayMs: 1000, longestDelayMs: 3_600_000 };
  const waitAfter = (attempt: number, random = 1) => backoff(attempt, { retry, random: () => random });

  test('doubles up to the maximum', () => {
    const delays = [1, 2, 3, 12, 13, 40, 10_000].map((attempt) => waitAfter(attempt));
    expect(delays).toEqual([1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000, 3_600_000]);
  });

  test.each([
    [0, 14],
    [1, 28],
  ])('is half or all of the delay for the random number %i: 40 attempts take %i hours', (random, hours) => {
    const waits = Array.from({ length: 39 }, (_, index) => waitAfter(index + 1, random));
    expect(Math.round(waits.reduce((sum, wait) => sum + wait) / HOUR)).toBe(hours);
  });
});

describe.each(ENGINES)('on %s', (engine) => {
  test('the largest numbers work', async () => {
    const retry = { attempts: MOST, firstDelayMs: MOST, longestDelayMs: MOST };
    const timeouts = { handlerTimeoutMs: HOUR, handlerLockTimeoutMs: HOUR, storeTimeoutMs: 600_000 };
    const { merchant, inbox } = await newDueShop(engine, { ...timeouts, retry });
    inbox.handle(async ({ tx, attempt }) => {
      if (attempt === 1) throw new Error('not yet');
      await merchant.credit(tx, 'ORD-1', '500');
    });
    const stop = startWork(inbox, { pollMs: HOUR });
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    await merchant.advance(MOST);
    // Wakes the worker.
    await inbox.transaction((tx) => tx.query('select 1'));
    await until(async () => (await inbox.list())[0]?.state === 'settled');
    await stop();
    expect(await merchant.credits()).toHaveLength(1);
  });
});

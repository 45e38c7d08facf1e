import { join } from 'node:path';
import { ConfigurationError, InvalidInputError } from '@payment-service/core';
import { expect, onTestFinished, test } from 'vitest';
import { nodeListener } from '../src/console/index.ts';
import { aesGcm, createInbox, type Inbox, postgres, type Store, sqlite } from '../src/index.ts';
import { NOTE, ORDER } from './support/shop.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const HOUR = 3_600_000;
const MOST = 2 ** 31 - 1;

const hidden = (text: string): string => Buffer.from(text).toString('base64');
const shown = (text: string): string => Buffer.from(text, 'base64').toString();

/** Paths that are not a file on a local disk. */
const PATHS = [' ', 'x\0.db', 'file::memory:?cache=shared', 'file:x.db?mode=memory', '\\\\host\\share\\x.db'];

const emptyStore = () => sqlite(join(temporaryFolder(), 'x.db'));

const pool = { connect: () => undefined, on: () => undefined, options: {} };
const key = Buffer.alloc(32);
const wrong: Record<string, readonly unknown[]> = {
  store: [undefined, { name: 'redis' }],
  account: [7, 'a\0b', 'x'.repeat(201), '\ud800'],
  colonIn: ['event', true],
  spool: ['', ':memory:', ...PATHS],
  bodies: ['none', true],
  encryption: [
    ...[null, 'aes', {}, { seal: hidden }, { open: shown }, { seal: hidden, open: 'open' }],
    { seal: (text: string) => text, open: (text: string) => text }, // hides nothing
    { seal: hidden, open: hidden }, // restores another string
    { seal: async (text: string) => hidden(text), open: shown },
    ...['\0', '\ud800'].map((end) => ({ seal: (text: string) => hidden(text) + end, open: shown })),
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
  statuses: [['COMPLETED'], { COMPLETED: 'failed' }, { FAILED: 'lost' }, null],
  random: [null],
  completedEvents: ['transaction.completed'],
  storeTimeoutMs: [0, Number.NaN, 600_001],
  handlerTimeoutMs: [1.5, HOUR + 1],
  handlerLockTimeoutMs: [HOUR + 1],
  'retry.attempts': [0, MOST + 1],
  'retry.firstDelayMs': [MOST + 1],
  'retry.longestDelayMs': [Number.POSITIVE_INFINITY],
};
test('a store on a pool has as many handlers as the pool allows, and listens if it has three connections', () => {
  for (const [max, maxConcurrency, isListening] of [
    [undefined, 8, true],
    [3, 1, true],
    [2, 1, false],
    [5, 3, true],
  ] as const) {
    const store = postgres({ ...pool, options: { max } });
    expect(store).toMatchObject({ maxConcurrency, dialect: 'postgres', prefix: 'payment_inbox.' });
    expect('listen' in store).toBe(isListening);
  }
});

/** Functions that refuse these values, and the name of the wrong one. */
type Maker = readonly [make: (...values: never[]) => unknown, option: string, ...values: unknown[]];
const MAKERS: readonly Maker[] = [
  ...[{}, undefined, { connect: 5 }].map((one): Maker => [postgres, 'pool', one]),
  ...['Upper', '', 'with space', 'a;b', 'pg_x', 'a"b', 'x'.repeat(64)].map(
    (schema): Maker => [postgres, 'schema', pool, { schema }],
  ),
  ...['', ':memory:', '//host/x.db', '/missing/folder/x.db', ...PATHS].map(
    (path): Maker => [sqlite, 'path', path],
  ),
  ...[600_001, 0, -1, '5', 1.5].map(
    (lockTimeoutMs): Maker => [sqlite, 'lockTimeoutMs', 'x.db', { lockTimeoutMs }],
  ),
  [sqlite, 'timeout', 'x.db', { timeout: 1 }],
  [aesGcm, 'current', { current: 'k1', keys: { k2: key } }],
  [aesGcm, 'keys', { current: 'k1' }],
  ...['', 'a b', 'x'.repeat(41), '.k', 'k.'].map(
    (id): Maker => [aesGcm, 'keys', { current: id, keys: { [id]: key } }],
  ),
  ...[Buffer.alloc(31), 'AAAA', 7].map((k1): Maker => [aesGcm, 'keys', { current: 'k1', keys: { k1 } }]),
  ...Object.entries(wrong).flatMap(([option, values]) =>
    values.map((value): Maker => {
      const [name = '', field] = option.split('.');
      const given = { store: postgres(pool), [name]: field === undefined ? value : { [field]: value } };
      return [createInbox, option, given];
    }),
  ),
];

/** A method, its values, one of which is wrong, and the name of that one. */
type Refused = readonly [
  method: Exclude<keyof Inbox<never>, 'route'>,
  values: readonly unknown[],
  option: string | undefined,
];
const { signal } = new AbortController();
const ID = '0'.repeat(64);
const ACT = {
  name: 'retry',
  merchant_reference: 'ORD-0',
  transaction_type: 'COLLECTION',
  revision: 'x',
  report: ID,
};
const PERIOD = { from: new Date(0), to: new Date(HOUR) };
/** The first member of each of these options is wrong. */
const refused = (method: Refused[0], all: readonly object[], ...before: unknown[]): Refused[] =>
  all.map((options) => [method, [...before, options], Object.keys(options)[0]]);
const notes = [
  ...[
    { by: undefined, note: 'x' },
    { by: ' ', note: 'x' },
    { by: 'x'.repeat(201), note: 'x' },
  ],
  ...['', '\0', 'x'.repeat(1001)].map((note) => ({ note, by: 'dana' })),
  // A misspelled `body` would close the transition without applying anything.
  { digest: ID, ...NOTE },
];
const amounts = ['secret', 0.1 + 0.2, '10e9999', `${'9'.repeat(990)}e30`];
const notPositive = ['0', '-0', 0n, '0.00', '-1', -0.01, '-5e-9'];
const calls: readonly Refused[] = [
  ...refused('reports', [
    ...[{ merchant_reference: 7 }, { merchant_reference: null }, { internal_reference: ['ORD-1'] }],
    ...[{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { state: "x' or 1=1" }, { reason: 7 }],
    ...[{ since: '2026-01-01' }, { until: new Date(Number.NaN) }, { after: 'x' }],
  ]),
  ...refused('work', [{ signal: 'no' }, { concurrency: 0, signal }, { pollMs: HOUR + 1, signal }]),
  ...refused('drain', [{ deadline: 1 }, { limit: 0 }, { signal: 'no' }]),
  ...refused('health', [{ maxPendingAgeSeconds: 0 }, { signal: 'no' }]),
  ...refused('prune', [{ bodiesOlderThanDays: Number.NaN }, { archiveOlderThanDays: 100_001 }]),
  ...refused('payments', [
    ...[{ state: 'settled' }, { state: ['open', 'none'] }, { needed: false }, { reason: 7 }, { search: '' }],
    ...[{ since: 1 }, { until: new Date(Number.NaN) }, { limit: 1001 }, { after: 1 }],
  ]),
  ...refused('totals', [{ from: 1, to: new Date(0) }]),
  ...(
    ['reports', 'payments', 'work', 'drain', 'health', 'prune', 'expect', 'totals', 'reconcile'] as const
  ).flatMap((method) => refused(method, [{ zzz: 1 }])),
  ...refused('act', notes, ACT),
  ...refused('forget', notes, 'ORD-1'),
  ...[ID, undefined, {}, { ...ACT, name: 'none' }, { ...ACT, revision: 1 }].map(
    (act): Refused => ['act', [act, NOTE], 'act'],
  ),
  ['act', [ACT], 'by'],
  ...[{}, { reason: 7 }].map(
    (which): Refused => ['actAll', ['retry', { until: new Date(0), ...which }, NOTE], 'reason'],
  ),
  ...[undefined, '2026-01-01', new Date(Number.NaN)].map(
    (until): Refused => ['actAll', ['close', { reason: 'no_handler', until }, NOTE], 'until'],
  ),
  ['actAll', ['close', { reason: 'no_handler', until: new Date(0), limit: 1001 }, NOTE], 'limit'],
  ['actAll', ['accept', { reason: 'no_handler', until: new Date(0) }, NOTE], 'name'],
  ...refused('actAll', notes, 'retry', { reason: 'no_handler', until: new Date(0) }),
  ...[{ replace: 'yes' }, { replace: { amount: '5' } }].map(
    (options): Refused => ['expect', [ORDER, options], 'replace'],
  ),
  ['expect', [ORDER, { replace: { ...NOTE, currency: 'UGX', amount: 'free' } }], 'amount'],
  ...['A'.repeat(64), 'a'.repeat(65), `z${'a'.repeat(64)}`].map(
    (id): Refused => ['report', [id], 'transitionId'],
  ),
  ['forget', [7, NOTE], 'merchant_reference'],
  ['transaction', ['insert …'], 'body'],
  ...[[], undefined].map((wallets): Refused => ['recordBalances', [wallets], 'wallets']),
  ...[undefined, { actual_balance: '1,000' }].map(
    (exact): Refused => ['recordBalances', [[{ currency: 'UGX', wallet_type: 'W', exact }]], 'wallets'],
  ),
  ['reconcileStatement', [{}, { ...NOTE, ...PERIOD }], 'rows'],
  ['handle', ['failed', 'no'], 'handler'],
  ['handle', ['paid', () => undefined], 'handler'],
  ...refused(
    'expect',
    [
      ...['', 'secret\0', 'secret\ud800'].map((merchant_reference) => ({ merchant_reference })),
      ...['secret currency', 'S'.repeat(33)].map((currency) => ({ currency })),
      ...[...amounts, ...notPositive].map((amount) => ({ amount })),
      ...[{ transaction_type: '' }, { deadline: new Date(Number.NaN) }],
    ].map((wrong) => ({ ...wrong, ...ORDER, ...wrong })),
  ),
  ...refused(
    'reconcile',
    [
      ...[{ from: '2026-01-01' }, { movements: {} }, { charge: {} }, { charges: { UGX: { least: '0' } } }],
      ...[
        { charges: { UGX: { least: '0', most: '3 %' } } },
        { charges: { UGX: { least: 'x0', most: '1' } } },
      ],
      ...[undefined, null, 5].map((creditedWithin) => ({ creditedWithin })),
      ...[{ kinds: null }, { kinds: 'settled' }],
      ...[
        { creditedWithin: { secondsBefore: 1 } },
        { creditedWithin: { secondsBefore: -1, secondsAfter: 1 } },
        { creditedWithin: { secondsBefore: 1, secondsAfter: 0.5 } },
      ],
    ].map((wrong) => ({
      ...wrong,
      ...PERIOD,
      creditedWithin: { secondsBefore: 1, secondsAfter: 1 },
      ...wrong,
    })),
  ),
  ...refused(
    'reconcileStatement',
    [{ by: '' }, { note: undefined }, { from: 'yesterday' }, { dryRun: 'no' }, { dry: false }].map(
      (wrong) => ({ ...wrong, ...NOTE, ...PERIOD, ...wrong }),
    ),
    [],
  ),
  ...[{ type: '' }, { status: 'FAILED' }].map(
    (options): Refused => ['handle', ['paid', () => undefined, options], Object.keys(options)[0] ?? ''],
  ),
  ['handle', ['COMPLETED', () => undefined], 'name'],
];
test('options of calls are validated, and the error names the option and not its value', async () => {
  const inbox = createInbox<never>({ store: emptyStore() as Store<never> });
  onTestFinished(() => inbox.close());
  inbox.handle('paid', () => undefined);
  const messages = new Set<string>();
  const all = calls.map(([method, values, option]) => [inbox[method], values, option] as const);
  const made = MAKERS.map(([make, option, ...values]) => [make, values, option] as const);
  for (const [call, values, option] of [...all, ...made]) {
    const refused = async (): Promise<unknown> => Reflect.apply(call, undefined, values);
    const error = await refused().catch((thrown: unknown) => thrown);
    const isTyped = ['act', 'actAll', 'forget'].includes(call.name) && /^(by|note)$/.test(option ?? '');
    expect(error, `${call.name} ${JSON.stringify(values, String)}`).toBeInstanceOf(
      isTyped ? InvalidInputError : ConfigurationError,
    );
    const named = expect.stringMatching(`^${option}`);
    expect(error, call.name).toMatchObject(isTyped ? { field: named } : { option: named });
    expect(String(error)).toMatch(/^(Configuration|InvalidInput)Error: .{8,} .{3,}[.:]/s);
    expect(String(error)).not.toContain('secret');
    messages.add(`${Object(error).option ?? Object(error).field}: ${Object(error).message}`);
  }
  expect(await inbox.reports()).toEqual([]);
  await expect([...messages, ''].join('\n')).toMatchFileSnapshot('options.txt');
});

test('options of calls are accepted up to their limits', async () => {
  const encryption = { seal: hidden, open: shown };
  const given = { store: emptyStore(), account: 'x'.repeat(200), encryption };
  const inbox = createInbox({ ...given, onError: () => undefined });
  onTestFinished(() => inbox.close());
  inbox.handle('paid', () => undefined);
  const dates = { since: new Date(0), until: new Date(1) };
  expect(
    await inbox.reports({ ...dates, state: 'dead', reason: 'archived', limit: 1000, after: ID }),
  ).toEqual([]);
  expect(await inbox.reports({ merchant_reference: '', internal_reference: '', limit: 1 })).toEqual([]);
  expect(await inbox.health({ maxPendingAgeSeconds: 1 })).toMatchObject({ ok: true });
  const days = { bodiesOlderThanDays: 100_000, waitingBodiesOlderThanDays: 1, archiveOlderThanDays: 1 };
  expect(await inbox.prune(days)).toEqual({ bodies: 0, archived: 0 });
  expect((await inbox.payments({ ...dates, state: 'overdue', search: 'ORD', limit: 1000 })).items).toEqual(
    [],
  );
  expect(await inbox.drain({ limit: 1, deadlineMs: 1, concurrency: 1 })).toMatchObject({ settled: 0 });
  expect(await inbox.payment('')).toBeUndefined();
  expect(await inbox.totals(PERIOD)).toEqual([]);
  const which = { reason: 'crash_loop', until: new Date(0), limit: 1000 } as const;
  expect(await inbox.actAll('retry', which, { by: 'x', note: 'y' })).toEqual({ done: 0, skipped: 0 });
  await inbox.expect({ ...ORDER, deadline: new Date(0), transaction_type: 'x', compare: 'request' });
  for (const id of ['a', '_-9'.repeat(13)]) aesGcm({ current: id, keys: { [id]: key } });
  for (const schema of ['_a1', 'x'.repeat(63), 'apg_'])
    expect(postgres(pool, { schema }).prefix).toBe(`${schema}.`);
});

test('nodeListener() names the inbox that was passed in the place of its console', () => {
  const inbox = createInbox({ store: emptyStore() });
  const message = /console must be the result of inboxConsole\(\), as in nodeListener\(inboxConsole\(/;
  expect(() => nodeListener(inbox as never)).toThrow(message);
});

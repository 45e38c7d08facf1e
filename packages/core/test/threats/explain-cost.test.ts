import { afterEach, expect, test, vi } from 'vitest';
import { explain, explainRefusals } from '../../src/explain/index.ts';
import { ConfigurationError } from '../../src/index.ts';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import { post, unread } from '../incoming.ts';
import { operations } from '../operations.ts';
import { callbackData, HASH_OF_OTHER_KEY, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';

// How much work an unauthenticated sender can cause in explain(), while it is enabled.

const FORGED = { 'hmac-signature': `t=${T},s=${HASH_OF_OTHER_KEY}` };
const BODY = JSON.stringify(callbackData());

afterEach(() => void vi.unstubAllEnvs());

test.each(['production', 'Production', 'production ', 'prod', 'staging', 'live', 'Development', 'none'])(
  'threat A45: it does not start with NODE_ENV=%j',
  (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    const make = () => explainRefusals({ signingKey: SIGNING_KEY });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(`NODE_ENV is "${environment}"`);
  },
);

test.each(['development', 'test', '', undefined])('control: it starts with NODE_ENV %j', (environment) => {
  vi.stubEnv('NODE_ENV', environment);
  expect(explainRefusals({ signingKey: SIGNING_KEY })).toBeTypeOf('function');
});

/** Sends callbacks at these times, and returns what was printed for each. */
async function flood(times: readonly number[]): Promise<string[][]> {
  let now = NOW;
  const printed: string[][] = [];
  const onRefused = explainRefusals({
    signingKey: SIGNING_KEY,
    now: () => now,
    log: (text) => void printed.at(-1)?.push(text),
  });
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onRefused, onCallback: () => 1 });
  for (const at of times) {
    now = NOW + at;
    printed.push([]);
    await receiveCallback(post(unread(BODY), FORGED), receiver);
  }
  return printed;
}

test('threat A45: ten a second are explained, and the rest are counted and reported', async () => {
  const printed = await flood([...Array<number>(47).fill(0), 999, 1000, 1001, 5000]);
  const explained = expect.stringMatching(/^Callback refused \(mismatch\): /);
  expect(printed.slice(0, 10)).toEqual(Array(10).fill([explained]));
  expect(printed[10]).toEqual([
    'More than 10 callbacks were refused in one second: the rest are counted, not explained.',
  ]);
  expect(printed.slice(11, 48)).toEqual(Array(37).fill([]));
  expect(printed[48]).toEqual(['38 more refusals were not explained.', explained]);
  expect(printed.slice(49)).toEqual([[explained], [explained]]);
});

test('control: ten in every second are all explained', async () => {
  const printed = await flood(Array.from({ length: 50 }, (_, index) => index * 100));
  expect(printed.flat()).toHaveLength(50);
  expect(printed.flat().join()).not.toContain('not explained');
});

test('threat A45: a clock that steps back does not stop the explanations', async () => {
  const printed = await flood([0, -3_600_000, -3_599_999]);
  expect(printed.map(({ length }) => length)).toEqual([1, 1, 1]);
});

/** How many characters and names are created by the built-in functions, on which everything else is based. */
const costOf = (run: () => unknown): number =>
  operations(
    [
      [Buffer.prototype, ['write']],
      [JSON, ['stringify']],
      [Object, ['keys', 'entries']],
      [String.prototype, ['replace', 'toUpperCase']],
    ],
    run,
    (made) => (typeof made === 'number' ? made : Array.isArray(made) ? made.length : String(made).length),
  );

const LENGTH = 60_000;
const keys = { signingKey: SIGNING_KEY, others: [{ id: 'other', key: `${OTHER_KEY}x` }] };
const cost = (body: string): number =>
  costOf(() => explain({ method: 'POST', headers: FORGED, body: Buffer.from(body) }, keys));
const many = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name_${index}`, value]));
const withPayload = (more: object): string =>
  JSON.stringify(callbackData({ ...callbackData().payload, ...more }));
const lost = (more: object): string => {
  const { merchant_reference: _, ...payload } = callbackData().payload;
  return JSON.stringify({ event: 'transaction.completed', payload: { ...payload, ...more } });
};
const nested = (depth: number): string => `{"event":"x","payload":${'['.repeat(depth)}${']'.repeat(depth)}}`;

test.each<[what: string, body: string]>([
  ['one long unsigned field', withPayload({ filler: 'x'.repeat(LENGTH) })],
  ['a long signed field', withPayload({ merchant_reference: 'x'.repeat(LENGTH) })],
  ['a signed field of percent signs', withPayload({ merchant_reference: '%'.repeat(LENGTH) })],
  [
    'five long signed fields',
    withPayload({ merchant_reference: 'x'.repeat(30_000), internal_reference: 'y'.repeat(30_000) }),
  ],
  ['4,000 names', withPayload(many(4000, 1))],
  ['4,000 names, and a lost field', lost(many(4000, 'x'))],
  ['40 long strings, and a lost field', lost(many(40, 'x'.repeat(1400)))],
  ['3,000 objects beside event', JSON.stringify({ event: 'x', ...many(3000, { a: 1 }) })],
  ['100 arrays in each other', nested(100)],
  ['2,000 arrays in each other', nested(2000)],
  ['29,000 arrays in each other', nested(29_000)],
  [
    'a string in a string in a string',
    JSON.stringify(JSON.stringify(withPayload({ filler: '\\'.repeat(7000) }))),
  ],
  ['no JSON', 'x'.repeat(LENGTH)],
])('threat A45: %s costs at most 3 million characters', (_what, body) => {
  expect(body.length).toBeLessThanOrEqual(65_536);
  expect(cost(body)).toBeLessThan(3_000_000);
});

test('control: a cost that grows with the square of a nesting is noticed', () => {
  const deep: unknown = JSON.parse(nested(2000));
  expect(costOf(() => JSON.stringify(deep, null, 2))).toBeGreaterThan(8_000_000);
});

test('an ordinary callback is far from the limit, so that every computation is made', () => {
  expect(cost(BODY)).toBeLessThan(150_000);
  const { detail } = explain({ headers: FORGED, body: BODY }, { signingKey: SIGNING_KEY });
  expect(detail).toMatch(/^None of 5\d\d computations/);
});

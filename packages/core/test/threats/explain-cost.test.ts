import { afterEach, expect, test, vi } from 'vitest';
import { explain, explainRefusals } from '../../src/explain/index.ts';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import { post, unread } from '../incoming.ts';
import { operations } from '../operations.ts';
import { callbackData, HASH_OF_OTHER_KEY, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';

// How much work an unauthenticated sender can cause in explain(), while it is enabled.

const FORGED = { 'hmac-signature': `t=${T},s=${HASH_OF_OTHER_KEY}` };
const { event, payload } = callbackData();
const BODY = JSON.stringify({ event, payload });

afterEach(() => void vi.unstubAllEnvs());

test.each([...['production', 'Production', 'production ', 'prod', 'staging', 'live', 'Development', 'none']])(
  'threat A45: explainRefusals() does not start with NODE_ENV=%j',
  (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    const refusal = {
      name: 'ConfigurationError',
      message: expect.stringContaining(`NODE_ENV is "${environment}"`),
    };
    expect(() => explainRefusals({ signingKey: SIGNING_KEY })).toThrow(expect.objectContaining(refusal));
  },
);

test.each(['development', 'test', '', undefined])('control: it starts with NODE_ENV %j', (environment) => {
  vi.stubEnv('NODE_ENV', environment);
  expect(explainRefusals({ signingKey: SIGNING_KEY })).toBeTypeOf('function');
});

/** Sends forged callbacks at these times, and returns what was printed for each. */
async function flood(times: readonly number[]): Promise<string[][]> {
  let at = 0;
  const printed: string[][] = [];
  const log = (text: string) => void printed.at(-1)?.push(text);
  const onRefused = explainRefusals({ signingKey: SIGNING_KEY, now: () => NOW + at, log });
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onRefused, onCallback: () => 1 });
  for (at of times) {
    printed.push([]);
    await receiveCallback(post(unread(BODY), FORGED), receiver);
  }
  return printed;
}

test('threat A45: ten a second are explained, and the rest are counted and reported', async () => {
  const printed = await flood([...Array<number>(47).fill(0), 999, 1000, 1001, 5000]);
  const explained = expect.stringMatching(/^Callback refused \(mismatch\): /);
  const full = 'More than 10 callbacks were refused in one second: the rest are counted, not explained.';
  expect(printed).toEqual([
    ...Array(10).fill([explained]),
    [full],
    ...Array(37).fill([]),
    ['38 more refusals were not explained.', explained],
    ...[[explained], [explained]],
  ]);
});

test('threat A45: ten in every second are all explained, and a clock that steps back stops no explanation', async () => {
  for (const times of [Array.from({ length: 50 }, (_, index) => index * 100), [0, -3_600_000, -3_599_999]])
    for (const lines of await flood(times))
      expect(lines).toEqual([expect.not.stringContaining('not explained')]);
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

const keys = { signingKey: SIGNING_KEY, others: [{ id: 'other', key: `${OTHER_KEY}x` }] };
const cost = (body: string): number =>
  costOf(() => explain({ method: 'POST', headers: FORGED, body: Buffer.from(body) }, keys));
const many = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name_${index}`, value]));
const withPayload = (more: object): string => JSON.stringify(callbackData({ ...more }));
const { merchant_reference: _, ...others } = payload;
const lost = (more: object): string => JSON.stringify({ event, payload: { ...others, ...more } });
const nested = (depth: number): string => `{"event":"x","payload":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const LONG = 'x'.repeat(60_000);
const HALF = 'y'.repeat(30_000);
const TWICE = JSON.stringify(JSON.stringify(withPayload({ filler: '\\'.repeat(7000) })));

test.each<[what: string, body: string]>([
  ['one long unsigned field', withPayload({ filler: LONG })],
  ['a long signed field', withPayload({ merchant_reference: LONG })],
  ['a signed field of percent signs', withPayload({ merchant_reference: '%'.repeat(60_000) })],
  ['two long signed fields', withPayload({ merchant_reference: HALF, internal_reference: HALF })],
  ['4,000 names', withPayload(many(4000, 1))],
  ['4,000 names, and a lost field', lost(many(4000, 'x'))],
  ['40 long strings, and a lost field', lost(many(40, 'x'.repeat(1400)))],
  ['3,000 objects beside event', JSON.stringify({ event: 'x', ...many(3000, { a: 1 }) })],
  ['100 arrays in each other', nested(100)],
  ['2,000 arrays in each other', nested(2000)],
  ['29,000 arrays in each other', nested(29_000)],
  ['a string in a string in a string', TWICE],
  ['no JSON', LONG],
])('threat A45: explaining %s costs at most 3 million characters', (_what, body) => {
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

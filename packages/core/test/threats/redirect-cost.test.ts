import { expect, test } from 'vitest';
import { type Counted, operations } from '../operations.ts';
import { QUERY } from '../signed-callbacks.ts';
import { verdictOf, verifier } from '../verify.ts';

// The cost of a query before authentication, counted in operations on strings, lists and maps.

/** The methods whose work grows with their input or result. */
const COUNTED: readonly Counted[] = [
  [String.prototype, 'slice substring split indexOf includes startsWith replaceAll match'.split(' ')],
  [Array.prototype, [...'flat concat map filter some includes push slice'.split(' '), Symbol.iterator]],
  [Map.prototype, ['get', 'has', 'set']],
  [globalThis, ['decodeURIComponent']],
];
const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 0;
/** How many characters and elements the built-in methods create, plus one for each call. */
const costOf = (run: () => unknown): number =>
  operations(COUNTED, run, (result, name, self) => sizeOf(name === Symbol.iterator ? self : result));
const verdictOn = (query: string | URL | URLSearchParams): string =>
  verdictOf(verifier.verifyRedirect(query));
const formsOf = (query: string) => [
  query,
  new URL(`https://shop.example/?${query}`),
  new URLSearchParams(query),
];

const distinct = (pairs: number, length: number): string =>
  Array.from({ length: pairs }, (_, index) =>
    `parameter${index}=`.padEnd(Math.floor(length / pairs) - 1, 'v'),
  ).join('&');

const harmless = `${QUERY}&${distinct(122, 8192 - QUERY.length - 1)}`;
const HARMLESS = costOf(() => verifier.verifyRedirect(harmless));

test('control: copying a list for every pair is noticed', () => {
  const quadratic = () => {
    let list: string[] = [];
    for (let index = 0; index < 4050; index++) list = [list, 'a'].flat();
    return list;
  };
  expect(costOf(quadratic)).toBeGreaterThan(100 * HARMLESS);
});

test.each([
  ['4,050 repeated names', 'a&'.repeat(4050)],
  ['4,050 repeated names behind a genuine query', `${QUERY}&${'a&'.repeat(3900)}`],
  ['122 repeated names', `${QUERY}${'&a'.repeat(122)}`],
  ['122 repeated unsigned names', `${QUERY}${'&id=1'.repeat(122)}`],
  ['8,000 brackets', `a${'['.repeat(8000)}`],
  ['8,000 brackets behind a signed name', `event${'['.repeat(8000)}`],
  ['8,000 brackets behind a nested name', `payload[id]${'[]'.repeat(4000)}`],
  ['122 names of brackets', `${QUERY}&${`a${'['.repeat(62)}&`.repeat(122)}`],
  ['8,190 ampersands', '&'.repeat(8190)],
  ['2,700 escapes', '%61'.repeat(2700)],
  ['8,000 plus signs', '+'.repeat(8000)],
  ['8,000 equals signs', '='.repeat(8000)],
  ['8,000 question marks', '?'.repeat(8000)],
  ['8,000 number signs', '#'.repeat(8000)],
])('threat A29: %s cost at most 5 times a harmless query of the same length', (_, query) => {
  expect(query.length).toBeLessThanOrEqual(8192);
  for (const form of formsOf(query)) {
    expect(costOf(() => verifier.verifyRedirect(form))).toBeLessThan(5 * HARMLESS);
  }
});

test('threat A29: a query of 65,000 characters is refused unread, in every form', () => {
  for (const long of [
    `${QUERY}&x=${'y'.repeat(65_000)}`,
    `${QUERY}${'&a'.repeat(32_500)}`,
    `a${'['.repeat(65_000)}`,
  ]) {
    for (const form of formsOf(long)) {
      expect(verdictOn(form)).toBe('query_malformed');
      expect(costOf(() => verifier.verifyRedirect(form))).toBeLessThan(HARMLESS);
    }
  }
});

test.each<[name: string, form: (query: string) => string | URL | URLSearchParams]>([
  ['a string', (query) => query],
  ['URLSearchParams', (query) => new URLSearchParams(query)],
])(
  'threat A29: in %s, 128 parameters and 8,192 characters are accepted, and one more is refused',
  (_, form) => {
    const pairs = (count: number) => `${QUERY}&${distinct(count - 6, 4000)}`;
    expect(verdictOn(form(pairs(128)))).toBe('accepted');
    expect(verdictOn(form(pairs(129)))).toBe('query_malformed');
    // The encoded form counts: URLSearchParams encodes the signature's '=' and ','.
    const encoded = String(form(`${QUERY}&x=`));
    const padded = (length: number) => form(`${QUERY}&x=${'y'.repeat(length - encoded.length)}`);
    expect(verdictOn(padded(8192))).toBe('accepted');
    expect(verdictOn(padded(8193))).toBe('query_malformed');
  },
);

import { describe, expect, test } from 'vitest';
import { verifier } from '../ordinary-verifier.ts';
import { QUERY } from '../signed-callbacks.ts';
import { codeOf } from './verify.ts';

// What a query costs before authentication, counted in operations on strings, lists and maps.

/** The methods whose work grows with what they read or make. */
const COUNTED: [prototype: object, names: readonly PropertyKey[]][] = [
  [
    String.prototype,
    ['slice', 'substring', 'split', 'indexOf', 'includes', 'startsWith', 'replaceAll', 'match'],
  ],
  [
    Array.prototype,
    ['flat', 'concat', 'map', 'filter', 'some', 'includes', 'push', 'slice', Symbol.iterator],
  ],
  [Map.prototype, ['get', 'has', 'set']],
  [globalThis, ['decodeURIComponent']],
];

/** How many characters and elements the built-in methods make, and one for each call. */
function operations(run: () => unknown): number {
  let count = 0;
  const restore = COUNTED.flatMap(([owner, names]) =>
    names.map((name) => {
      const original = Object.getOwnPropertyDescriptor(owner, name);
      const method: unknown = original?.value;
      if (original === undefined || typeof method !== 'function')
        throw new Error(`No method ${String(name)}.`);
      function counted(this: unknown, ...given: unknown[]): unknown {
        const result: unknown = Reflect.apply(method as () => unknown, this, given);
        count += 1 + (name === Symbol.iterator ? sizeOf(this) : sizeOf(result));
        return result;
      }
      Object.defineProperty(owner, name, { ...original, value: counted });
      return () => Object.defineProperty(owner, name, original);
    }),
  );
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return count;
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0;
}

const distinct = (pairs: number, length: number): string =>
  Array.from({ length: pairs }, (_, index) =>
    `parameter${index}=`.padEnd(Math.floor(length / pairs) - 1, 'v'),
  ).join('&');

describe('threat A29: a quadratic query', () => {
  const harmless = `${QUERY}&${distinct(122, 8192 - QUERY.length - 1)}`;

  test('the harmless query that the others are compared with is as long as allowed, and accepted', () => {
    expect(harmless.length).toBeGreaterThan(7900);
    expect(codeOf(verifier.verifyRedirect(harmless))).toBe('accepted');
  });

  test('control: copying a list for every pair is noticed', () => {
    const quadratic = () => {
      let list: string[] = [];
      for (let index = 0; index < 4050; index++) list = [list, 'a'].flat();
      return list;
    };
    expect(operations(quadratic)).toBeGreaterThan(100 * operations(() => verifier.verifyRedirect(harmless)));
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
    const limit = 5 * operations(() => verifier.verifyRedirect(harmless));
    expect(query.length).toBeLessThanOrEqual(8192);
    for (const form of [query, new URL(`https://shop.example/?${query}`), new URLSearchParams(query)]) {
      expect(operations(() => verifier.verifyRedirect(form))).toBeLessThan(limit);
    }
  });

  test('threat A29: a query of 65,000 characters is refused unread, in every form', () => {
    const limit = operations(() => verifier.verifyRedirect(harmless));
    for (const long of [
      `${QUERY}&x=${'y'.repeat(65_000)}`,
      `${QUERY}${'&a'.repeat(32_500)}`,
      `a${'['.repeat(65_000)}`,
    ]) {
      for (const form of [long, new URL(`https://shop.example/?${long}`), new URLSearchParams(long)]) {
        expect(codeOf(verifier.verifyRedirect(form))).toBe('query_malformed');
        expect(operations(() => verifier.verifyRedirect(form))).toBeLessThan(limit);
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
      expect(codeOf(verifier.verifyRedirect(form(pairs(128))))).toBe('accepted');
      expect(codeOf(verifier.verifyRedirect(form(pairs(129))))).toBe('query_malformed');
      // The encoded form counts: URLSearchParams encodes the signature's '=' and ','.
      const encoded = String(form(`${QUERY}&x=`));
      const padded = (length: number) => form(`${QUERY}&x=${'y'.repeat(length - encoded.length)}`);
      expect(codeOf(verifier.verifyRedirect(padded(8192)))).toBe('accepted');
      expect(codeOf(verifier.verifyRedirect(padded(8193)))).toBe('query_malformed');
    },
  );
});

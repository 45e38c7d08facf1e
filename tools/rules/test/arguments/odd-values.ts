/** Values that a program can pass by mistake, under the names that reports show. Each call gets values of its own. */
export function oddValues(): ReadonlyMap<string, unknown> {
  const rejected = Promise.reject(new Error('of the caller'));
  rejected.catch(() => undefined); // Who made it has handled it; what a function makes of it has not.
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const done = (then: (rows: readonly unknown[]) => void): void => then([]);
  const queryBuilder = Object.defineProperty({}, 'then', { value: done });
  return new Map<string, unknown>([
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['0', 0],
    ['-1', -1],
    ['1.5', 1.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['an empty string', ''],
    ['a string', 'text'],
    ['half of a surrogate pair', '\ud800'],
    ['a bigint', 7n],
    ['a symbol', Symbol('text')],
    ['a function', () => undefined],
    ['an async function', async () => undefined],
    ['a function that throws', failing],
    ['an empty list', []],
    ['a list of undefined', [undefined]],
    ['a list of null', [null]],
    ['a list of numbers', [7]],
    ['a list of strings', ['text']],
    ['a list of symbols', [Symbol('text')]],
    ['a list of empty objects', [{}]],
    ['a list of lists', [[], [undefined, 1], [Symbol('text'), null]]],
    ['an empty object', {}],
    ['an object without a prototype', Object.create(null)],
    ['an object with a symbol', { text: Symbol('text') }],
    ['an object whose text cannot be made', { toString: null, valueOf: null }],
    ['an invalid Date', new Date(Number.NaN)],
    ['a Map', new Map([['text', 1]])],
    ['bytes', new Uint8Array([1, 2, 3])],
    ['Headers', new Headers({ text: 'text' })],
    ['a promise', Promise.resolve([{}])],
    ['a rejected promise', rejected],
    ['a query builder', queryBuilder],
    ['a proxy', new Proxy({}, {})],
    ['a proxy that throws', new Proxy({}, new Proxy({}, { get: () => failing }))],
    ['a revoked proxy', revoked.proxy],
  ]);
}

/** What a function of the caller throws is its own. */
export class OfCaller extends Error {}

function failing(): never {
  throw new OfCaller();
}

/** Two that only a program makes that looks for them: not tried inside objects and lists. */
export const HOSTILE: readonly string[] = ['a proxy that throws', 'a revoked proxy'];

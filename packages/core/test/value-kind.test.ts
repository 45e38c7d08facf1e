import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { kindOf } from '../src/options/options.ts';

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const throws = (): never => {
  throw new TypeError('a trap');
};
/** A proxy whose every trap throws. */
const trapped = new Proxy({}, new Proxy({}, { get: () => throws }));
const queryBuilder = Object.defineProperty({}, 'then', { value: () => 'SECRET' });
class Order {}

const KINDS: readonly (readonly [kind: string, ...values: unknown[]])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', Number.NaN, 0, 7, Number.POSITIVE_INFINITY],
  ['a bigint', 7n],
  ['a boolean', true, false],
  ['a string', '', 'SECRET'],
  ['a symbol', Symbol('SECRET')],
  ['a function', () => 'SECRET', Order],
  ['an Array', [], ['SECRET'], runInNewContext('[1]'), new Proxy([], {})],
  ['an Object', {}, { secret: 'SECRET' }, Object.create(null), new Order(), new Proxy({}, {})],
  ['a Map', new Map(), runInNewContext('new Map()')],
  ['a Headers', new Headers()],
  ['a FormData', new FormData()],
  ['a URLSearchParams', new URLSearchParams()],
  ['a Uint8Array', new Uint8Array(1), Buffer.from('SECRET')],
  ['an ArrayBuffer', new ArrayBuffer(1)],
  ['a Date', new Date()],
  ['an Error', new Error('SECRET')],
  ['a promise: await it', Promise.resolve('SECRET'), queryBuilder, runInNewContext('Promise.resolve()')],
  ['unreadable', revoked.proxy, trapped],
];

test.each(KINDS)('A value is described as %s, without its contents', (kind, ...values) => {
  for (const value of values) expect(kindOf(value)).toBe(kind);
});

test('A description of a value whose own code throws does not throw', () => {
  const hostile = Object.defineProperties({}, { [Symbol.toStringTag]: { get: throws } });
  expect(kindOf(hostile)).toBe('unreadable');
});

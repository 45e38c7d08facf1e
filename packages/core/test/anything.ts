import fc from 'fast-check';

const unit = fc
  .oneof(...[0x7f, 0xffff, 0x10ffff].map((max) => fc.integer({ min: 0, max })))
  .map((point) => String.fromCodePoint(point));

/** Any string, also with half of a surrogate pair. The unit `binary` of fast-check takes seconds to prepare. */
export const anyString = (maxLength = 30): fc.Arbitrary<string> => fc.string({ unit, maxLength });

/** Any value that a parser or a careless caller can pass. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    ...{ withBigInt: true, withBoxedValues: true, withDate: true, withMap: true, withSet: true },
    ...{ withNullPrototype: true, withObjectString: true, withSparseArray: true },
    ...{ withTypedArray: true, withUnicodeString: true },
  }),
  fc.json(),
  fc.uint8Array({ maxLength: 300 }),
);

/** Values that throw when they are read. Not an arbitrary: fast-check itself fails on them. */
export const hostile: readonly unknown[] = [
  Symbol('body'),
  () => 'ORD-1001',
  new Proxy(
    {},
    { get: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail, has: fail, ownKeys: fail },
  ),
  new Proxy([], { get: fail, getPrototypeOf: fail }),
  revoked({}),
  revoked([]),
  ...[URLSearchParams, URL, Uint8Array].map(({ prototype }) => Object.create(prototype)),
  new DataView(new ArrayBuffer(8)),
  new Float64Array(4),
  new Uint8Array(new SharedArrayBuffer(8)),
  detached(),
  { event: 'transaction.completed', payload: revoked({}) },
  { event: revoked({}), payload: {} },
  { toString: fail, valueOf: fail, toJSON: fail, [Symbol.toPrimitive]: fail, [Symbol.iterator]: fail },
  Object.defineProperty({}, 'payload', { get: fail, enumerable: true }),
  ['t=1', fail],
];

function fail(): never {
  throw new Error('a trap of the attacker');
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function detached(): Uint8Array {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

import fc from 'fast-check';

/** Anything that a parser or a careless caller can hand over. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  }),
  fc.json(),
  fc.uint8Array({ maxLength: 300 }),
);

/** Values that are made to make a reader throw. Not an arbitrary: fast-check itself would trip over them. */
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
  Object.create(URLSearchParams.prototype),
  Object.create(URL.prototype),
  Object.create(Uint8Array.prototype),
  new DataView(new ArrayBuffer(8)),
  new Float64Array(4),
  new Uint8Array(new SharedArrayBuffer(8)),
  detached(),
  { event: 'transaction.completed', payload: revoked({}) },
  { event: revoked({}), payload: {} },
  { toString: fail, valueOf: fail, toJSON: fail, [Symbol.toPrimitive]: fail, [Symbol.iterator]: fail },
  {
    get payload() {
      return fail();
    },
  },
  ['t=1', fail],
];

function fail(): never {
  throw new Error('a trap of the sender');
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

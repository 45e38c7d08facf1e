import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distance, nearName } from '../src/options/near-name.ts';

const NAMES = 'merchant_reference amount currency provider_code transaction_status mode forged_amount';
const KNOWN = NAMES.split(' ');

test.each([
  ['amonut', 'amount'],
  ['Amount', 'amount'],
  ['curency', 'currency'],
  ['merchant_refrence', 'merchant_reference'],
  ['merchantReference', 'merchant_reference'],
  ['status', 'transaction_status'],
  ['forged', 'forged_amount'],
  ['provider', 'provider_code'],
])('%s is near %s', (name, near) => {
  expect(nearName(name, KNOWN)).toBe(near);
});

test.each(['note', 'order_no', 'x', '', 'a'.repeat(500)])('%j is not similar to any known name', (name) => {
  expect(nearName(name, KNOWN)).toBeUndefined();
});

test('a name with one character changed, left out or added is found', () => {
  const longer = KNOWN.filter(({ length }) => length >= 6);
  fc.assert(
    fc.property(fc.constantFrom(...longer), fc.nat(5), fc.constantFrom('', 'q', 'qz'), (name, at, put) => {
      const typed = name.slice(0, at) + put + name.slice(at + 1);
      expect(distance(typed, name)).toBeLessThanOrEqual(2);
      expect(nearName(typed, [name])).toBe(name);
    }),
  );
});

import { describe, expect, test } from 'vitest';
import { nearName } from '../src/options/near-name.ts';

const NAMES = 'merchant_reference amount currency provider_code transaction_status mode forged_amount';
const KNOWN = NAMES.split(' ');

describe('nearName()', () => {
  test.each([
    ['amonut', 'amount'],
    ['Amount', 'amount'],
    ['merchant_refrence', 'merchant_reference'],
    ['merchantReference', 'merchant_reference'],
    ['status', 'transaction_status'],
  ])('%s is near %s', (name, near) => {
    expect(nearName(name, KNOWN)).toBe(near);
  });

  test.each(['note', 'order_no', 'x', '', 'a'.repeat(500)])('%j is not similar to any known name', (name) => {
    expect(nearName(name, KNOWN)).toBeUndefined();
  });
});

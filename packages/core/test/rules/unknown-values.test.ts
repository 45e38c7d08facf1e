import { expect, test } from 'vitest';
import { isTransactionCompleted } from '../../src/index.ts';
import { callbackData } from '../signed-callbacks.ts';
import { accepted, sign, verify } from '../verify.ts';

test.each([
  ['transaction.completed', 'COLLECTION', 'COMPLETED', true],
  ['transaction.reversed', 'REVERSAL', 'REVERSED', false],
  ['payout.completed', 'COLLECTION', 'COMPLETED', false],
  ['transaction.completed', 'COLLECTION', 'FAILED', false],
])(
  'the event %s of type %s and status %s verifies, and is completed: %s',
  (event, type, status, isCompleted) => {
    const data = { ...callbackData({ transaction_type: type, transaction_status: status }), event };
    const callback = accepted(verify(data, sign(data)));
    expect(callback.signed).toMatchObject({ event, transaction_type: type, transaction_status: status });
    expect(isTransactionCompleted(callback)).toBe(isCompleted);
  },
);

test('missing and oddly typed unsigned fields are left out of unsigned, and stay in raw', () => {
  const odd = {
    ...{ id: '1001', request_amount: '500', transaction_amount: null, customer_name: 5 },
    ...{ charge_customer: 0, channel: 'ussd' },
  };
  const result = accepted(verify(callbackData(odd)));
  const names =
    'provider_code request_currency status_message total_credit transaction_account transaction_charge transaction_currency';
  expect(Object.keys(result.unsigned).sort()).toEqual(names.split(' '));
  expect(result.raw).toMatchObject({ payload: odd });
});

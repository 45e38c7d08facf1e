import { describe, expect, test } from 'vitest';
import { isTransactionCompleted } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import {
  callbackData,
  HASH_OF_FAILED,
  HASH_OF_OTHER_EVENT,
  HASH_OF_UNKNOWN,
  T,
} from '../signed-callbacks.ts';
import { verify } from './verify.ts';

// Decision D9, beside the vectors of the contract: the guard, and fields left out.

describe('decision D9: unknown is not wrong', () => {
  test('an unknown event, type and status verify, and are not a completed transaction', () => {
    const body = {
      event: 'transaction.reversed',
      payload: { ...callbackData({ transaction_type: 'REVERSAL', transaction_status: 'REVERSED' }).payload },
    };
    const unknown = accepted(verify(body, `t=${T},s=${HASH_OF_UNKNOWN}`));
    expect(unknown.signed.event).toBe('transaction.reversed');
    expect([unknown, accepted(verify(callbackData()))].map(isTransactionCompleted)).toEqual([false, true]);
  });

  test('a transaction is completed only when both the event and the status say so', () => {
    const otherEvent = verify(
      { ...callbackData(), event: 'payout.completed' },
      `t=${T},s=${HASH_OF_OTHER_EVENT}`,
    );
    const otherStatus = verify(callbackData({ transaction_status: 'FAILED' }), `t=${T},s=${HASH_OF_FAILED}`);
    expect(isTransactionCompleted(accepted(otherEvent))).toBe(false);
    expect(isTransactionCompleted(accepted(otherStatus))).toBe(false);
  });

  test('missing and oddly typed unsigned fields are left out of unsigned, and stay in raw', () => {
    const odd = {
      id: '1001',
      request_amount: '500',
      transaction_amount: null,
      customer_name: 5,
      charge_customer: 0,
      channel: 'ussd',
    };
    const result = accepted(verify(callbackData(odd)));
    expect(Object.keys(result.unsigned).sort()).toEqual([
      'provider_code',
      'request_currency',
      'status_message',
      'total_credit',
      'transaction_account',
      'transaction_charge',
      'transaction_currency',
    ]);
    expect(result.raw).toMatchObject({ payload: odd });
  });
});

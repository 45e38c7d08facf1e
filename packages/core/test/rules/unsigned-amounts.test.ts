import { describe, expect, test } from 'vitest';
import { confirmAmount } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { callbackData } from '../signed-callbacks.ts';
import { verify } from './verify.ts';

// Decision D1, beside the vectors of the contract: the parts of a result, and money.

describe('decision D1: the amount is not signed, so signed and unsigned stay apart, and money is compared', () => {
  test('every unsigned field can change under one signature, and is reported as unsigned', () => {
    const changed = {
      id: 7,
      request_currency: 'USD',
      request_amount: 1,
      transaction_currency: 'USD',
      transaction_amount: 5_000_000,
      transaction_charge: 0,
      transaction_account: '0',
      customer_name: 'Another Customer',
      charge_customer: true,
      total_credit: 9,
      provider_code: 'other',
      status_message: 'ok',
    };
    const result = accepted(verify(callbackData(changed)));
    expect({ ...result.unsigned }).toEqual(changed);
    expect({ ...result.signed }).toEqual({
      event: 'transaction.completed',
      merchant_reference: 'ORD-1001',
      internal_reference: 'INT-77',
      transaction_type: 'COLLECTION',
      transaction_status: 'COMPLETED',
    });
  });

  test('an amount is reachable only through unsigned and raw', () => {
    const result = accepted(verify(callbackData()));
    const names = [
      'ok',
      'kind',
      'signed',
      'unsigned',
      'raw',
      'transitionId',
      'account',
      'keyId',
      'timestamp',
    ] as const;
    const holders = names.filter((name) => JSON.stringify(result[name]).includes(':500'));
    expect(holders).toEqual(['unsigned', 'raw']);
    expect(JSON.stringify(result)).not.toContain(':500');
    // Control: the list has every property and every getter of a result.
    const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(result)));
    const all = [...Object.keys(result), ...getters.filter(([, { get }]) => get).map(([name]) => name)];
    expect(all.sort()).toEqual([...names].sort());
  });

  test('confirmAmount() confirms 500 for 500, and not 5,000,000', () => {
    const expected = { currency: 'UGX', amount: '500' };
    expect(confirmAmount(accepted(verify(callbackData())), expected)).toEqual({ ok: true });
    const forged = accepted(verify(callbackData({ transaction_amount: 5_000_000 })));
    expect(confirmAmount(forged, expected)).toMatchObject({ ok: false });
  });
});

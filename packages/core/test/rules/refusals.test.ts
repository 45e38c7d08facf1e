import { expect, test } from 'vitest';
import { isTransactionCompleted } from '../../src/index.ts';
import { parsed, post, received } from '../incoming.ts';
import { callbackData, HASH_OF_OTHER_KEY, SIGNATURE, signatureFor, T } from '../signed-callbacks.ts';
import { accepted, NOW, sign, verify } from '../verify.ts';

// Verification is total, sends one constant answer, and keeps evidence of authentic refusals (decision D8). Unknown is not
// wrong (decision D9). In addition to the vectors of the contract: the response, the hook, the evidence, what unsigned has.

const FORGED = `t=${T},s=${HASH_OF_OTHER_KEY}`;
const ambiguous = callbackData({ merchant_reference: 'A:B' });

test.each([
  ['signature_missing', '', callbackData()],
  ['signature_malformed', 'nonsense', callbackData()],
  ['mismatch', FORGED, callbackData()],
  ['body_malformed', SIGNATURE, 'not JSON'],
  ['signed_field_malformed', SIGNATURE, callbackData({ merchant_reference: 5 })],
  ['ambiguous', signatureFor('A:B'), ambiguous],
  ['timestamp_unreadable', signatureFor('ORD-1001', 'soon'), callbackData()],
  ['timestamp_out_of_tolerance', SIGNATURE, callbackData()],
])(
  'threat A22: the network gets one answer for every refusal, and onRefused gets %s',
  async (code, signature, data) => {
    const codes: string[] = [];
    const onRefused = (refusal: { code: string }): number => codes.push(refusal.code);
    const options = { now: () => NOW, toleranceSeconds: 5, onCallback: () => undefined, onRefused };
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect(await received(post(parsed(data), { 'hmac-signature': signature }), options)).toEqual({
      reply: { status: 401, headers, body: '{"error":"unauthorized"}' },
    });
    expect(codes).toEqual([code]);
  },
);

test('an authentic refusal carries the body, and a forged one carries nothing', () => {
  const evidence = { ok: false, kind: 'evidence', raw: ambiguous, keyId: 'default' };
  expect(verify(ambiguous, signatureFor('A:B'))).toMatchObject({ code: 'ambiguous', evidence });
  expect(Object.keys(verify(ambiguous, FORGED)).sort()).toEqual(['authentic', 'code', 'hint', 'ok']);
});

test.each([
  ['transaction.completed', 'COLLECTION', 'COMPLETED', true],
  ['transaction.reversed', 'REVERSAL', 'REVERSED', false],
  ['payout.completed', 'COLLECTION', 'COMPLETED', false],
  ['transaction.completed', 'COLLECTION', 'FAILED', false],
])('decision D9: the event %s of type %s and status %s verifies, and is completed: %s', (...row) => {
  const [event, transaction_type, transaction_status, isCompleted] = row;
  const data = { ...callbackData({ transaction_type, transaction_status }), event };
  const callback = accepted(verify(data, sign(data)));
  expect(callback.signed).toMatchObject({ event, transaction_type, transaction_status });
  expect(isTransactionCompleted(callback)).toBe(isCompleted);
});

test('decision D9: missing and oddly typed unsigned fields are left out of unsigned, and stay in raw', () => {
  const odd = {
    ...{ id: '1001', request_amount: '500', transaction_amount: null, customer_name: 5 },
    ...{ charge_customer: 0, channel: 'ussd' },
  };
  const { unsigned, raw } = accepted(verify(callbackData(odd)));
  const names =
    'provider_code request_currency status_message total_credit transaction_account transaction_charge transaction_currency';
  expect(Object.keys(unsigned).sort()).toEqual(names.split(' '));
  expect(raw).toMatchObject({ payload: odd });
});

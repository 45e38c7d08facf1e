import { expect, test } from 'vitest';
import { parsed, post, received } from '../incoming.ts';
import { callbackData, HASH_OF_OTHER_KEY, SIGNATURE, signatureFor, T } from '../signed-callbacks.ts';
import { NOW, verify } from '../verify.ts';

// Decision D8, in addition to the vectors of the contract: the response, the hook and the evidence.

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
])('the network gets one answer for every refusal, and onRefused gets %s', async (code, signature, data) => {
  const codes: string[] = [];
  const onRefused = (refusal: { code: string }): number => codes.push(refusal.code);
  const options = { now: () => NOW, toleranceSeconds: 5, onCallback: () => undefined, onRefused };
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  expect(await received(post(parsed(data), { 'hmac-signature': signature }), options)).toEqual({
    reply: { status: 401, headers, body: '{"error":"unauthorized"}' },
  });
  expect(codes).toEqual([code]);
});

test('an authentic refusal carries the body, and a forged one carries nothing', () => {
  const evidence = { ok: false, kind: 'evidence', raw: ambiguous, keyId: 'default' };
  expect(verify(ambiguous, signatureFor('A:B'))).toMatchObject({ code: 'ambiguous', evidence });
  expect(Object.keys(verify(ambiguous, FORGED)).sort()).toEqual(['authentic', 'code', 'hint', 'ok']);
});

import { describe, expect, test } from 'vitest';
import { ConfigurationError, confirmAmount } from '../../src/index.ts';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import { parsed, post } from '../incoming.ts';
import {
  callbackData,
  HASH_OF_OTHER_KEY,
  SIGNATURE,
  SIGNING_KEY,
  signatureFor,
  T,
} from '../signed-callbacks.ts';
import { NOW, verify } from '../verify.ts';

// Decision D8, beside the vectors of the contract: the answer, the hook and the evidence.

describe('decision D8: verification is total, sends one constant answer, and keeps evidence of authentic refusals', () => {
  const onRefused: string[] = [];
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    now: () => NOW,
    toleranceSeconds: 5,
    onCallback: () => undefined,
    onRefused: ({ code }) => onRefused.push(code),
  });
  const send = (signature: string, data: unknown) =>
    receiveCallback(post(parsed(data), { 'hmac-signature': signature }), receiver);

  test('the network gets one answer for every refusal, and onRefused gets the code', async () => {
    const answers = [
      await send('', callbackData()),
      await send('nonsense', callbackData()),
      await send(`t=${T},s=${HASH_OF_OTHER_KEY}`, callbackData()),
      await send(SIGNATURE, 'not JSON'),
      await send(SIGNATURE, callbackData({ merchant_reference: 5 })),
      await send(signatureFor('A:B'), callbackData({ merchant_reference: 'A:B' })),
      await send(signatureFor('ORD-1001', 'soon'), callbackData()),
      await send(SIGNATURE, callbackData()),
    ];
    const reply = {
      status: 401,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"error":"unauthorized"}',
    };
    expect(answers).toEqual(answers.map(() => ({ reply })));
    expect(onRefused).toEqual([
      'signature_missing',
      'signature_malformed',
      'mismatch',
      'body_malformed',
      'signed_field_malformed',
      'ambiguous',
      'timestamp_unreadable',
      'timestamp_out_of_tolerance',
    ]);
  });

  test('confirmAmount() refuses evidence, even with the expected amount', () => {
    const refusal = verify(callbackData({ merchant_reference: 'A:B' }), signatureFor('A:B'));
    if (refusal.ok || !refusal.authentic) throw new Error('no evidence');
    const { evidence } = refusal;
    expect(evidence.unsigned.transaction_amount).toBe(500);
    // @ts-expect-error evidence is not a callback, in the types either
    expect(() => confirmAmount(evidence, { currency: 'UGX', amount: 500 })).toThrow(ConfigurationError);
  });

  test('an authentic refusal carries the body, and a forged one carries nothing', () => {
    const body = callbackData({ merchant_reference: 'A:B' });
    const authentic = verify(body, signatureFor('A:B'));
    const evidence = { ok: false, kind: 'evidence', raw: body, keyId: 'default' };
    expect(authentic).toMatchObject({ code: 'ambiguous', evidence });
    const forged = verify(body, `t=${T},s=${HASH_OF_OTHER_KEY}`);
    expect(Object.keys(forged).sort()).toEqual(['authentic', 'code', 'hint', 'ok']);
  });
});

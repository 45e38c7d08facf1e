import { describe, expect, test } from 'vitest';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, HASH, HASH_OF_OTHER_KEY, SIGNATURE, T } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D6, beside the vectors of the contract: a string, an array, and no header.

describe('decision D6: the header has one t, one s of 64 lower-case digits, no white space and at most 256 characters', () => {
  test.each([
    ['as the service sends it', SIGNATURE, 'accepted'],
    ['in another order, with other names', `v=1,s=${HASH},alg=hmac,t=${T}`, 'accepted'],
    ['of 256 characters', `${SIGNATURE},v=`.padEnd(256, 'x'), 'accepted'],
    ['of 257 characters', `${SIGNATURE},v=`.padEnd(257, 'x'), 'signature_malformed'],
    ['with a second t', `${SIGNATURE},t=1`, 'signature_malformed'],
    ['with a second s', `s=${HASH},${SIGNATURE}`, 'signature_malformed'],
    ['that joins two headers', `${SIGNATURE}, ${SIGNATURE}`, 'signature_malformed'],
    ['with white space', `t=${T}, s=${HASH}`, 'signature_malformed'],
    ['with = in a value', `${SIGNATURE}=`, 'signature_malformed'],
    ['with an empty part', `${SIGNATURE},`, 'signature_malformed'],
    ['with upper-case digits', `t=${T},s=${HASH.toUpperCase()}`, 'signature_malformed'],
    ['with 63 digits', SIGNATURE.slice(0, -1), 'signature_malformed'],
    ['with one digit', `t=${T},s=a`, 'signature_malformed'],
    ['with 65 digits', `${SIGNATURE}0`, 'signature_malformed'],
    ['with code points 256 above the digits', SIGNATURE.replace(HASH, above(HASH)), 'signature_malformed'],
    ['with another digest', `t=${T},s=${HASH_OF_OTHER_KEY}`, 'mismatch'],
    ['that is empty', '', 'signature_missing'],
  ])('a header %s gets the verdict %s', (_, signature, verdict) => {
    expect(verdictOf(verify(callbackData(), signature))).toBe(verdict);
  });

  function above(hash: string): string {
    return Array.from(hash, (digit) => String.fromCodePoint(0x100 + (digit.codePointAt(0) ?? 0))).join('');
  }

  test('an array with one valid header is malformed, and an absent header is missing', () => {
    const body = callbackData();
    expect(verdictOf(verifier.verifyCallback({ signature: [SIGNATURE], body }))).toBe('signature_malformed');
    expect(verdictOf(verifier.verifyCallback({ signature: undefined, body }))).toBe('signature_missing');
    expect(verdictOf(verifier.verifyCallback({ signature: null, body }))).toBe('signature_missing');
  });
});

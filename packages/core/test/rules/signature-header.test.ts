import { describe, expect, test } from 'vitest';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, HASH, HASH_OF_OTHER_KEY, SIGNATURE, T } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D6 of "What the signature proves", beside the vectors of the contract: a text, an array, and none at all.

describe('3.6 the header: one t, one s of 64 lower-case digits, no white space, at most 256 characters', () => {
  test.each([
    ['plain', SIGNATURE, 'accepted'],
    ['in the other order, among other names', `v=1,s=${HASH},alg=hmac,t=${T}`, 'accepted'],
    ['256 characters', `${SIGNATURE},v=`.padEnd(256, 'x'), 'accepted'],
    ['257 characters', `${SIGNATURE},v=`.padEnd(257, 'x'), 'signature_malformed'],
    ['a second t', `${SIGNATURE},t=1`, 'signature_malformed'],
    ['a second s', `s=${HASH},${SIGNATURE}`, 'signature_malformed'],
    ['a joined duplicate', `${SIGNATURE}, ${SIGNATURE}`, 'signature_malformed'],
    ['white space', `t=${T}, s=${HASH}`, 'signature_malformed'],
    ['= in a value', `${SIGNATURE}=`, 'signature_malformed'],
    ['an empty part', `${SIGNATURE},`, 'signature_malformed'],
    ['upper-case digits', `t=${T},s=${HASH.toUpperCase()}`, 'signature_malformed'],
    ['63 digits', SIGNATURE.slice(0, -1), 'signature_malformed'],
    ['65 digits', `${SIGNATURE}0`, 'signature_malformed'],
    ['code points 256 above the digits', SIGNATURE.replace(HASH, above(HASH)), 'signature_malformed'],
    ['another digest', `t=${T},s=${HASH_OF_OTHER_KEY}`, 'mismatch'],
    ['nothing', '', 'signature_missing'],
  ])('%s', (_, signature, verdict) => {
    expect(verdictOf(verify(callbackData(), signature))).toBe(verdict);
  });

  function above(hash: string): string {
    return Array.from(hash, (digit) => String.fromCodePoint(0x100 + (digit.codePointAt(0) ?? 0))).join('');
  }

  test('an array is malformed, even of one good header; none at all is missing', () => {
    const body = callbackData();
    expect(verdictOf(verifier.verifyCallback({ signature: [SIGNATURE], body }))).toBe('signature_malformed');
    expect(verdictOf(verifier.verifyCallback({ signature: undefined, body }))).toBe('signature_missing');
    expect(verdictOf(verifier.verifyCallback({ signature: null, body }))).toBe('signature_missing');
  });
});

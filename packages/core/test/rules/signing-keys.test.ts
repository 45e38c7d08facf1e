import { describe, expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { NOW } from '../ordinary-verifier.ts';
import {
  callbackData,
  HASH_OF_EMPTY_KEY,
  HASH_OF_OTHER_KEY,
  OTHER_KEY,
  SIGNATURE,
  SIGNING_KEY,
  T,
} from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D7, beside the vectors of the contract: construction, and keys that rotate.

describe('decision D7: unusable keys are refused at construction, and the result names the key that matched', () => {
  test.each([
    ['that is undefined', undefined],
    ['that is null', null],
    ['that is empty', ''],
    ['with a space', 'KEY KEY'],
    ['with a line break at the end', `${SIGNING_KEY}\n`],
    ['with a NUL at the end', `${SIGNING_KEY}\0`],
    ['with a C1 control character', `${SIGNING_KEY}\u0085`],
    ['that is the string undefined', 'undefined'],
    ['that is the string null', 'null'],
    ['with half of a surrogate pair', `${SIGNING_KEY}\ud800`],
    ['that is a number', 12345678],
    ['with no keys', []],
    ['with five keys', ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, key: `${SIGNING_KEY}${id}` }))],
    [
      'with a repeated id',
      [
        { id: 'a', key: SIGNING_KEY },
        { id: 'a', key: OTHER_KEY },
      ],
    ],
    [
      'with an empty key in a list',
      [
        { id: 'a', key: SIGNING_KEY },
        { id: 'b', key: '' },
      ],
    ],
    ['with an invalid notAfter', [{ id: 'a', key: SIGNING_KEY, notAfter: new Date('soon') }]],
  ])('a signingKey %s is refused, and the message does not show it', (_, signingKey) => {
    const make = () => createVerifier({ signingKey: signingKey as string });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ option: expect.stringMatching(/^signingKey/) }));
    expect(make).toThrow(expect.not.objectContaining({ message: expect.stringContaining(SIGNING_KEY) }));
  });

  test('a key equal to the public or the secret key is refused', () => {
    expect(() => createVerifier({ signingKey: SIGNING_KEY, publicKey: SIGNING_KEY })).toThrow(/public key/);
    expect(() => createVerifier({ signingKey: SIGNING_KEY, secretKey: SIGNING_KEY })).toThrow(/secret key/);
    expect(() => createVerifier({ signingKey: SIGNING_KEY, publicKey: 'p', secretKey: 's' })).not.toThrow();
  });

  test('after a rotation, the result has the id of the key, and a key past its notAfter is refused', () => {
    const keys = (notAfter: Date) => [
      { id: 'new', key: OTHER_KEY },
      { id: 'old', key: SIGNING_KEY, notAfter },
    ];
    const result = (signature: string, end: number) =>
      verify(callbackData(), signature, { signingKey: keys(new Date(end)) });
    expect(result(`t=${T},s=${HASH_OF_OTHER_KEY}`, NOW)).toMatchObject({ ok: true, keyId: 'new' });
    expect(result(SIGNATURE, NOW)).toMatchObject({ ok: true, keyId: 'old' });
    expect(verdictOf(result(SIGNATURE, NOW - 1))).toBe('key_expired');
    expect(verdictOf(result(`t=${T},s=${HASH_OF_EMPTY_KEY}`, NOW))).toBe('mismatch');
  });
});

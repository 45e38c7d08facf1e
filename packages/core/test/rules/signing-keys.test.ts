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

// Decision D7 of "What the signature proves", beside the vectors of the contract: construction, and keys that rotate.

describe('3.7 keys: unusable ones are refused at construction; several of them tell which one matched', () => {
  test.each([
    ['undefined', undefined],
    ['null', null],
    ['empty', ''],
    ['a space inside', 'KEY KEY'],
    ['a line break at the end', `${SIGNING_KEY}\n`],
    ['a NUL at the end', `${SIGNING_KEY}\0`],
    ['a C1 control', `${SIGNING_KEY}\u0085`],
    ['the text undefined', 'undefined'],
    ['the text null', 'null'],
    ['half a surrogate pair', `${SIGNING_KEY}\ud800`],
    ['a number', 12345678],
    ['no keys', []],
    ['five keys', ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, key: `${SIGNING_KEY}${id}` }))],
    [
      'one id twice',
      [
        { id: 'a', key: SIGNING_KEY },
        { id: 'a', key: OTHER_KEY },
      ],
    ],
    [
      'an empty key in a ring',
      [
        { id: 'a', key: SIGNING_KEY },
        { id: 'b', key: '' },
      ],
    ],
    ['an end that is no date', [{ id: 'a', key: SIGNING_KEY, notAfter: new Date('soon') }]],
  ])('%s', (_, signingKey) => {
    const make = () => createVerifier({ signingKey: signingKey as string });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ option: expect.stringMatching(/^signingKey/) }));
    expect(make).toThrow(expect.not.objectContaining({ message: expect.stringContaining(SIGNING_KEY) }));
  });

  test('a key equal to the public or the secret key', () => {
    expect(() => createVerifier({ signingKey: SIGNING_KEY, publicKey: SIGNING_KEY })).toThrow(/public key/);
    expect(() => createVerifier({ signingKey: SIGNING_KEY, secretKey: SIGNING_KEY })).toThrow(/secret key/);
    expect(() => createVerifier({ signingKey: SIGNING_KEY, publicKey: 'p', secretKey: 's' })).not.toThrow();
  });

  test('rotation: the id that matched, and key_expired past its end', () => {
    const ring = (notAfter: Date) => [
      { id: 'new', key: OTHER_KEY },
      { id: 'old', key: SIGNING_KEY, notAfter },
    ];
    const result = (signature: string, end: number) =>
      verify(callbackData(), signature, { signingKey: ring(new Date(end)) });
    expect(result(`t=${T},s=${HASH_OF_OTHER_KEY}`, NOW)).toMatchObject({ ok: true, keyId: 'new' });
    expect(result(SIGNATURE, NOW)).toMatchObject({ ok: true, keyId: 'old' });
    expect(verdictOf(result(SIGNATURE, NOW - 1))).toBe('key_expired');
    expect(verdictOf(result(`t=${T},s=${HASH_OF_EMPTY_KEY}`, NOW))).toBe('mismatch');
  });
});

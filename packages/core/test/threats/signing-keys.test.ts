import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { signCallback } from '../../src/testing.ts';
import { NOW } from '../ordinary-verifier.ts';
import { callbackData, HASH_OF_EMPTY_KEY, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// Keys that anybody knows, that have ended, or that belong to the sandbox.

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('threat A19: keys that anybody knows, or that never fit', () => {
  test('threat A19: no key is used that is empty, white, controlled, a word for nothing, or another of the keys', () => {
    const control = fc.constantFrom(
      ' ',
      '\t',
      '\n',
      '\r',
      '\0',
      '\u001b',
      '\u007f',
      '\u0085',
      '\u00a0',
      '\u2028',
      '\ufeff',
    );
    fc.assert(
      fc.property(fc.tuple(fc.string(), control, fc.string()), ([before, character, after]) => {
        expect(() => createVerifier({ signingKey: before + character + after })).toThrow(ConfigurationError);
      }),
    );
    for (const signingKey of ['', 'undefined', 'null', undefined]) {
      expect(() => createVerifier({ signingKey })).toThrow(expect.objectContaining({ option: 'signingKey' }));
      expect(() => createCallbackReceiver({ signingKey })).toThrow(ConfigurationError);
      expect(() => createRedirectReceiver({ signingKey })).toThrow(ConfigurationError);
    }
  });

  test('threat A19: the digest under an empty key, which anybody can make, is a mismatch', () => {
    expect(codeOf(verify(callbackData(), `t=${T},s=${HASH_OF_EMPTY_KEY}`))).toBe('mismatch');
  });

  test('threat A19: two keys never stand for one another, whatever they decode to', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9+/=_-]{1,80}$/);
    fc.assert(
      fc.property(key, key, (signedWith, verifiedWith) => {
        fc.pre([signedWith, verifiedWith].every((text) => text !== 'null' && text !== 'undefined'));
        const signature = signCallback({ signingKey: signedWith, data: callbackData() });
        const result = createVerifier({ signingKey: verifiedWith }).verifyCallback({
          signature,
          body: callbackData(),
        });
        expect(codeOf(result)).toBe(signedWith === verifiedWith ? 'accepted' : 'mismatch');
      }),
    );
  });
});

describe('threat A20: rotation and compromise', () => {
  test('threat A20: the id of the key that fits, wherever it stands; an ended one is refused and proves nothing', () => {
    const texts = ['KEY-ONE-1111', 'KEY-TWO-2222', 'KEY-THREE-33', 'KEY-FOUR-444'];
    const ring = fc.shuffledSubarray(texts, { minLength: 1 });
    fc.assert(
      fc.property(ring, fc.constantFrom(...texts), fc.integer({ min: -2, max: 2 }), (keys, used, offset) => {
        const signingKey = keys.map((key) => ({ id: `id of ${key}`, key, notAfter: new Date(NOW + offset) }));
        const given = createVerifier({ signingKey, now: () => NOW });
        const body = callbackData({ merchant_reference: 'A:B' });
        for (const data of [callbackData(), body]) {
          const signature = signCallback({ signingKey: used, data });
          const result = given.verifyCallback({ signature, body: data });
          if (!keys.includes(used)) expect(result).toMatchObject({ code: 'mismatch', authentic: false });
          else if (offset < 0) expect(result).toMatchObject({ code: 'key_expired', authentic: false });
          else if (data === body) expect(result).toMatchObject({ code: 'ambiguous', authentic: true });
          else expect(result).toMatchObject({ ok: true, keyId: `id of ${used}` });
        }
      }),
    );
  });
});

describe('threat A27: a key of the sandbox in production', () => {
  test('threat A27: refused with NODE_ENV=production, in a ring too; accepted otherwise', () => {
    const sandboxed = 'SANDBOX-3f9c2a7e5b1d';
    const makers = [
      () => createVerifier({ signingKey: sandboxed }),
      () =>
        createVerifier({
          signingKey: [
            { id: 'a', key: OTHER_KEY },
            { id: 'b', key: sandboxed },
          ],
        }),
      () => createCallbackReceiver({ signingKey: sandboxed }),
      () => createRedirectReceiver({ signingKey: sandboxed }),
    ];
    for (const env of ['test', 'development', '']) {
      vi.stubEnv('NODE_ENV', env);
      for (const make of makers) expect(make).not.toThrow();
    }
    vi.stubEnv('NODE_ENV', 'production');
    for (const make of makers) expect(make).toThrow(/sandbox/);
    expect(() => createVerifier({ signingKey: SIGNING_KEY })).not.toThrow();
  });
});

import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as core from '../src/index.ts';
import {
  ConfigurationError,
  confirmAmount,
  createCallbackReceiver,
  createRedirectReceiver,
  createVerifier,
  type Refusal,
  receiveCallback,
  receiveRedirect,
  type VerifiedCallback,
  type VerifiedRedirect,
  type Verifier,
} from '../src/index.ts';
import { signCallback } from '../src/testing.ts';
import { anything, hostile } from './anything.ts';
import {
  callbackData,
  HASH,
  HASH_OF_EMPTY_KEY,
  HASH_OF_OTHER_KEY,
  OTHER_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
  signatureFor,
  T,
} from './signed-callbacks.ts';

// The attacks on the receiver, on keys and on what is logged: A18 to A28.

type Result = VerifiedCallback | VerifiedRedirect | Refusal;
type CallbackInput = Parameters<Verifier['verifyCallback']>[0];

const NOW = (T + 10) * 1000;
const verifier = createVerifier({ signingKey: SIGNING_KEY, now: () => NOW });

function verify(body: unknown, signature: unknown = SIGNATURE): Result {
  return verifier.verifyCallback({ signature, body } as CallbackInput);
}

function codeOf(result: Result): string {
  return result.ok ? 'accepted' : result.code;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('A18: cost before authentication, and totality', () => {
  test('A18: verifyCallback answers any input with a result, and accepts none of it', () => {
    fc.assert(
      fc.property(anything, anything, (signature, body) => {
        expect(verify(body, signature).ok).toBe(false);
        expect(verify(body).ok).toBe(false);
        expect(verify({ event: 'transaction.completed', payload: body }).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('A18: verifyRedirect answers any input with a result, and accepts none of it', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.webQueryParameters()), (query: unknown) => {
        expect(verifier.verifyRedirect(query as string).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('A18: nor does a value that is made to throw get anything but a result', () => {
    for (const value of hostile) {
      expect(verifier.verifyRedirect(value as string).ok).toBe(false);
      expect(verify(value).ok).toBe(false);
      expect(verify(callbackData(), value).ok).toBe(false);
      expect(verify(callbackData({ merchant_reference: value })).ok).toBe(false);
      expect(verify({ event: 'transaction.completed', payload: value }).ok).toBe(false);
      // In an unsigned field it is unknown, and unknown is not wrong.
      expect(verify(callbackData({ customer_name: value, id: value, channel: value })).ok).toBe(true);
    }
  });

  test('A18: 60 KB of brackets, in every place, is an answer and not a crash', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const inside = JSON.stringify(callbackData()).slice(0, -2);
    for (const text of [
      deep,
      '['.repeat(60_000),
      '{"a":'.repeat(12_000),
      `{"event":${deep}}`,
      `${inside},"x":${deep}}}`,
    ]) {
      expect(['body_malformed', 'accepted']).toContain(codeOf(verify(text)));
    }
    const parsed = verify(JSON.parse(`${inside},"x":${deep}}}`));
    expect(parsed.ok).toBe(true);
    expect(inspect(parsed)).toContain('ORD-1001');
    expect(JSON.stringify(parsed)).toContain('ORD-1001');
  });

  test('A18: a query is read up to 8,192 characters', () => {
    expect(codeOf(verifier.verifyRedirect(`${QUERY}&x=`.padEnd(8192, 'y')))).toBe('accepted');
    expect(codeOf(verifier.verifyRedirect(`${QUERY}&x=`.padEnd(8193, 'y')))).toBe('query_malformed');
  });

  test('A18: a bad method, type or header is answered without touching the body', async () => {
    const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
    let reads = 0;
    const stream = {
      [Symbol.asyncIterator]: () => {
        reads++;
        return { next: () => Promise.resolve({ done: true as const, value: undefined }) };
      },
    };
    const send = async (method: string, headers: [string, string][]) =>
      (await receiveCallback({ method, headers, body: { state: 'unread', stream } }, receiver)).status;
    expect(await send('GET', [['hmac-signature', SIGNATURE]])).toBe(405);
    expect(
      await send('POST', [
        ['hmac-signature', SIGNATURE],
        ['content-type', 'text/plain'],
      ]),
    ).toBe(415);
    expect(
      await send('POST', [
        ['hmac-signature', SIGNATURE],
        ['content-encoding', 'br'],
      ]),
    ).toBe(415);
    expect(await send('POST', [])).toBe(401);
    expect(await send('POST', [['hmac-signature', `${SIGNATURE} `]])).toBe(401);
    expect(
      await send('POST', [
        ['hmac-signature', SIGNATURE],
        ['content-length', '65537'],
      ]),
    ).toBe(413);
    expect(reads).toBe(0);
    expect(await send('POST', [['hmac-signature', SIGNATURE]])).toBe(401);
    expect(reads).toBe(1);
  });
});

describe('A19: keys that anybody knows, or that never fit', () => {
  test('A19: no key is used that is empty, white, controlled, a word for nothing, or another of the keys', () => {
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

  test('A19: the digest under an empty key, which anybody can make, is a mismatch', () => {
    expect(codeOf(verify(callbackData(), `t=${T},s=${HASH_OF_EMPTY_KEY}`))).toBe('mismatch');
  });

  test('A19: two keys never stand for one another, whatever they decode to', () => {
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

describe('A20: rotation and compromise', () => {
  test('A20: the id of the key that fits, wherever it stands; an ended one is refused and proves nothing', () => {
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

describe('A21: timing', () => {
  test('A21: texts that the comparison could not take never reach it: any length, any code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 130 }), (s) => {
        expect(['signature_malformed', 'mismatch']).toContain(
          codeOf(verify(callbackData(), `t=${T},s=${s}`)),
        );
        const padded = s.padEnd(64, '\u0130').slice(0, 64);
        expect(codeOf(verify(callbackData(), `t=${T},s=${padded}`))).toMatch(/malformed|mismatch/);
      }),
    );
  });

  test("A21: every key's whole digest goes through the platform's constant-time comparison, whichever fits", () => {
    const lengths: number[] = [];
    const watched = crypto.timingSafeEqual;
    crypto.timingSafeEqual = (left, right) => {
      lengths.push(left.byteLength, right.byteLength);
      return watched(left, right);
    };
    syncBuiltinESMExports();
    try {
      const signingKey = [OTHER_KEY, SIGNING_KEY, 'KEY-THREE-33'].map((key, index) => ({
        id: `${index}`,
        key,
      }));
      const ring = createVerifier({ signingKey });
      for (const s of [HASH, HASH_OF_OTHER_KEY, '0'.repeat(64)]) {
        ring.verifyCallback({ signature: `t=${T},s=${s}`, body: callbackData() });
      }
    } finally {
      crypto.timingSafeEqual = watched;
      syncBuiltinESMExports();
    }
    expect(lengths).toEqual(Array(3 * 3 * 2).fill(64));
  });
});

describe('A22: an oracle in the answer', () => {
  test('A22: every refused callback gets the same bytes, every refused redirect too', async () => {
    const callbacks = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
    const redirects = createRedirectReceiver({ signingKey: SIGNING_KEY, onRedirect: () => '/thanks' });
    await fc.assert(
      fc.asyncProperty(anything, fc.string({ unit: 'binary' }), async (data, text) => {
        const headers: [string, string][] = [
          ['hmac-signature', fc.stringify(text).length % 2 === 0 ? SIGNATURE : text],
        ];
        const answer = await receiveCallback(
          { method: 'POST', headers, body: { state: 'parsed', data } },
          callbacks,
        );
        expect(answer).toEqual({
          status: 401,
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: '{"error":"unauthorized"}',
        });
        const query = text.replaceAll('#', '');
        expect(await receiveRedirect({ method: 'GET', url: `/return?${query}` }, redirects)).toEqual({
          status: 401,
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
          },
          body: '{"error":"unauthorized"}',
        });
      }),
    );
  });
});

describe('A23: keys, headers and bodies in logs', () => {
  const person = { customer_name: 'Grace Nakato Secret', transaction_account: '256772999888' };
  const secrets = [
    SIGNING_KEY,
    OTHER_KEY,
    HASH,
    HASH_OF_OTHER_KEY,
    person.customer_name,
    person.transaction_account,
  ];
  const rings = [
    SIGNING_KEY,
    [
      { id: 'new', key: OTHER_KEY },
      { id: 'old', key: SIGNING_KEY },
    ],
  ];

  function leaks(value: unknown): string[] {
    const shown = [
      inspect(value, { depth: 20, showHidden: true, getters: true }),
      inspect([{ value }]),
      inspect(new Map([[value, value]])),
      JSON.stringify({ value }) ?? '',
      `${value instanceof Error ? value.stack : ''}`,
    ].join('\n');
    return secrets.filter((secret) => shown.includes(secret));
  }

  test('A23: control: the check finds a secret that is there', () => {
    expect(leaks({ deep: [callbackData(person)] })).toEqual([
      person.customer_name,
      person.transaction_account,
    ]);
    expect(leaks(new Error(SIGNING_KEY))).toEqual([SIGNING_KEY]);
  });

  test.each(rings)('A23: no verifier and no receiver shows a key', (signingKey) => {
    for (const value of [
      createVerifier({ signingKey }),
      createCallbackReceiver({ signingKey, onCallback: () => undefined }),
      createRedirectReceiver({ signingKey, onRedirect: () => '/thanks' }),
    ]) {
      expect(leaks(value)).toEqual([]);
      expect(leaks(Object.getOwnPropertyDescriptors(value))).toEqual([]);
    }
  });

  test('A23: no verified callback or redirect shows a person, and each shows its signed fields', () => {
    const callback = verify(JSON.stringify(callbackData(person)));
    const redirect = verifier.verifyRedirect(`${QUERY}&${new URLSearchParams(person)}`);
    for (const result of [callback, redirect]) {
      expect(result.ok).toBe(true);
      expect(leaks(result)).toEqual([]);
      expect(inspect(result)).toContain('ORD-1001');
      expect(JSON.parse(JSON.stringify(result))).toMatchObject({
        signed: { merchant_reference: 'ORD-1001' },
      });
    }
  });

  test('A23: no refusal shows a header, a body or a key, authentic or not', () => {
    const strict = createVerifier({ signingKey: SIGNING_KEY, toleranceSeconds: 1, now: () => NOW });
    const refusals = [
      verify(callbackData(person), `t=${T},s=${HASH_OF_OTHER_KEY}`),
      verify(callbackData({ ...person, merchant_reference: 'A:B' }), signatureFor('A:B')),
      verify(JSON.stringify(callbackData(person)).replace('{', '{"event":"x",')),
      verify(`${JSON.stringify(callbackData(person))}x`),
      verify(callbackData({ ...person, merchant_reference: 5 })),
      verify(callbackData(person), `${SIGNATURE},${SIGNATURE}`),
      strict.verifyCallback({ signature: SIGNATURE, body: callbackData(person) }),
      verifier.verifyRedirect(`${QUERY}&${new URLSearchParams(person)}&event=x`),
      verifier.verifyRedirect(`${QUERY}&${new URLSearchParams(person)}`, { expectReference: 'ORD-1' }),
    ];
    expect(new Set(refusals.map(codeOf)).size).toBe(8);
    for (const refusal of refusals) expect(leaks(refusal)).toEqual([]);
  });

  test('A23: no error of construction shows a key, its cause and properties included', () => {
    const options = [
      { signingKey: `${SIGNING_KEY}\n` },
      { signingKey: SIGNING_KEY, publicKey: SIGNING_KEY },
      { signingKey: SIGNING_KEY, secretKey: SIGNING_KEY },
      {
        signingKey: [
          { id: 'a', key: SIGNING_KEY },
          { id: 'b', key: SIGNING_KEY },
        ],
      },
      {
        signingKey: [
          { id: 'a', key: SIGNING_KEY },
          { id: 'a', key: OTHER_KEY },
        ],
      },
      { signingKey: [{ id: '', key: SIGNING_KEY }] },
      { signingKey: [{ id: 'a', key: ` ${SIGNING_KEY}` }] },
      { signingKey: SIGNING_KEY, toleranceSeconds: -1 },
    ];
    for (const option of options) {
      const error = thrownBy(() => createVerifier(option));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(leaks(error)).toEqual([]);
    }
  });

  test('A23: what a receiver prints or hands to its hooks shows nothing either', async () => {
    const shown: unknown[] = [];
    const receiver = createCallbackReceiver({
      signingKey: SIGNING_KEY,
      onRefused: (refusal) => shown.push(refusal),
      onError: (error) => shown.push(error),
    });
    const send = (headers: [string, string][], body: Parameters<typeof receiveCallback>[0]['body']) =>
      receiveCallback({ method: 'POST', headers, body }, receiver);
    const data = callbackData(person);
    await send([['hmac-signature', `t=${T},s=${HASH_OF_OTHER_KEY}`]], { state: 'parsed', data });
    await send([['hmac-signature', SIGNATURE]], { state: 'parsed', data: JSON.stringify(data).slice(1) });
    await send([['hmac-signature', SIGNATURE]], { state: 'consumed' });
    expect(shown).toHaveLength(3);
    expect(shown.flatMap(leaks)).toEqual([]);
  });

  test('A23: a redirect is answered so that its address reaches no other site and no cache', async () => {
    const receiver = createRedirectReceiver({ signingKey: SIGNING_KEY, onRedirect: () => '/orders/1' });
    const verified = await receiveRedirect({ method: 'GET', url: `/return?${QUERY}` }, receiver);
    const refused = await receiveRedirect({ method: 'GET', url: '/return' }, receiver);
    const wrong = await receiveRedirect({ method: 'HEAD', url: `/return?${QUERY}` }, receiver);
    expect([verified, refused, wrong].map(({ status }) => status)).toEqual([303, 401, 405]);
    for (const { headers } of [verified, refused, wrong]) {
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      expect(leaks(headers)).toEqual([]);
    }
  });

  function thrownBy(run: () => unknown): unknown {
    try {
      run();
    } catch (error) {
      return error;
    }
    throw new Error('nothing was thrown');
  }
});

describe('A24: clock skew, and the unit of t', () => {
  test('A24: with a tolerance of n seconds a t passes exactly when it lies within n, either way, in either unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: -700_000, max: 700_000 }),
        fc.boolean(),
        (tolerance, ageMs, inSeconds) => {
          const age = inSeconds ? Math.trunc(ageMs / 1000) * 1000 : ageMs;
          const t = inSeconds ? (NOW - age) / 1000 : NOW - age;
          const given = createVerifier({
            signingKey: SIGNING_KEY,
            toleranceSeconds: tolerance,
            now: () => NOW,
          });
          const result = given.verifyCallback({ signature: `t=${t},s=${HASH}`, body: callbackData() });
          const isWithin = Math.abs(age) <= tolerance * 1000;
          expect(codeOf(result)).toBe(isWithin ? 'accepted' : 'timestamp_out_of_tolerance');
          if (result.ok) expect(result.timestamp.ageSeconds).toBeCloseTo(age / 1000, 9);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('A24, A28: without a tolerance no t is too old, too new or too odd, and each is reported', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.bigInt({ min: 0n, max: 10n ** 60n }).map(String),
          fc.stringMatching(/^[!-+\--<>-~]{1,60}$/),
        ),
        (t) => {
          const result = verify(callbackData(), `t=${t},s=${HASH}`);
          if (!result.ok) throw new Error(`refused: ${result.code}`);
          const { text, unit, ageSeconds } = result.timestamp;
          expect(text).toBe(t);
          expect(unit).toBe(
            /^\d+$/.test(t) ? (BigInt(t) < 10n ** 11n ? 'seconds' : 'milliseconds') : 'unreadable',
          );
          expect(ageSeconds === undefined).toBe(unit === 'unreadable');
        },
      ),
    );
  });
});

describe('A25: markup and addresses in unsigned text', () => {
  test('A25: core offers nothing that makes HTML or an address out of a callback', async () => {
    expect(Object.keys(core).filter((name) => /html|render|escape|redirectTo|location/i.test(name))).toEqual(
      [],
    );
    const receiver = createRedirectReceiver({ signingKey: SIGNING_KEY });
    const url = `/return?${QUERY}&status_message=https://evil.example&location=https://evil.example`;
    const handedOn = await receiveRedirect({ method: 'GET', url }, receiver);
    expect(handedOn.redirect?.ok).toBe(true);
    expect(JSON.stringify(handedOn.headers)).not.toContain('evil');
  });
});

describe('A26: a redirect of another session', () => {
  test('A26: only the very reference that the session expects verifies; a session without one expects none', () => {
    const verdict = (expectReference: string | undefined) =>
      codeOf(verifier.verifyRedirect(QUERY, { expectReference }));
    expect(verdict('ORD-1001')).toBe('accepted');
    for (const other of ['ORD-1002', 'ord-1001', 'ORD-1001 ', 'ORD-100', '', undefined]) {
      expect(verdict(other)).toBe('reference_unexpected');
    }
    expect(codeOf(verifier.verifyRedirect(QUERY, {}))).toBe('accepted');
    expect(verifier.verifyRedirect(QUERY, { expectReference: 'x' })).toMatchObject({ authentic: true });
  });
});

describe('A27: a key of the sandbox in production', () => {
  test('A27: refused with NODE_ENV=production, in a ring too; accepted otherwise', () => {
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

describe('A28: a retry that keeps its first t', () => {
  test('A28: a callback retried for a day verifies each time, as one transition, and its amount is confirmed', () => {
    const ids = new Set<string>();
    for (let hour = 0; hour <= 24; hour++) {
      const later = createVerifier({ signingKey: SIGNING_KEY, now: () => (T + hour * 3600) * 1000 });
      const result = later.verifyCallback({ signature: SIGNATURE, body: callbackData() });
      if (!result.ok) throw new Error(`refused: ${result.code}`);
      expect(result.timestamp.ageSeconds).toBe(hour * 3600);
      expect(confirmAmount(result, { currency: 'UGX', amount: 500 })).toEqual({ ok: true });
      ids.add(result.transitionId);
    }
    expect(ids.size).toBe(1);
  });
});

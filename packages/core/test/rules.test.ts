import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  confirmAmount,
  createCallbackReceiver,
  createVerifier,
  isTransactionCompleted,
  type Refusal,
  receiveCallback,
  type VerifiedCallback,
  type VerifiedRedirect,
  type VerifierOptions,
} from '../src/index.ts';
import {
  callbackData,
  HASH,
  HASH_OF_EMPTY_KEY,
  HASH_OF_FAILED,
  HASH_OF_OTHER_EVENT,
  HASH_OF_OTHER_KEY,
  HASH_OF_UNKNOWN,
  OTHER_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
  signatureFor,
  T,
} from './signed-callbacks.ts';

// One group for every numbered rule of "What the signature proves". The vectors of the contract hold the many cases;
// here is what a JSON file cannot say: the shape of results, construction, getters, streams.

const NOW = (T + 10) * 1000;
const verifier = createVerifier({ signingKey: SIGNING_KEY, now: () => NOW });

function verify(
  body: Uint8Array | string | object,
  signature = SIGNATURE,
  options: Partial<VerifierOptions> = {},
) {
  const given = createVerifier({ signingKey: SIGNING_KEY, now: () => NOW, ...options });
  return given.verifyCallback({ signature, body });
}

function accepted<Result extends VerifiedCallback | VerifiedRedirect>(result: Result | Refusal): Result {
  if (!result.ok) throw new Error(`refused: ${result.code}`);
  return result;
}

function codeOf(result: VerifiedCallback | VerifiedRedirect | Refusal): string {
  return result.ok ? 'accepted' : `${result.code}${result.authentic ? ', authentic' : ''}`;
}

describe('3.1 the amount is not signed: signed and unsigned stay apart, and money is compared', () => {
  test('every unsigned field can be another under one signature, and is reported as unsigned', () => {
    const changed = {
      id: 7,
      request_currency: 'USD',
      request_amount: 1,
      transaction_currency: 'USD',
      transaction_amount: 5_000_000,
      transaction_charge: 0,
      transaction_account: '0',
      customer_name: 'Somebody Else',
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

  test('no member of the result holds both: an amount is reachable only through unsigned and raw', () => {
    const result = accepted(verify(callbackData()));
    const holders = Object.entries(result).filter(([, value]) => JSON.stringify(value)?.includes('500'));
    expect(holders.map(([name]) => name).sort()).toEqual(['raw', 'unsigned']);
  });

  test('confirmAmount takes 500 for 500, and not 5,000,000', () => {
    const expected = { currency: 'UGX', amount: '500' };
    expect(confirmAmount(accepted(verify(callbackData())), expected)).toEqual({ ok: true });
    const forged = accepted(verify(callbackData({ transaction_amount: 5_000_000 })));
    expect(confirmAmount(forged, expected)).toMatchObject({ ok: false });
  });
});

describe('3.2 t is not signed: no tolerance unless it is set, two-sided, unit by size, age always reported', () => {
  test.each([
    ['a year old, no tolerance', T, {}, T + 31_536_000, 'accepted'],
    ['30 s old', T, { toleranceSeconds: 30 }, T + 30, 'accepted'],
    ['31 s old', T, { toleranceSeconds: 30 }, T + 31, 'timestamp_out_of_tolerance, authentic'],
    ['31 s ahead', T, { toleranceSeconds: 30 }, T - 31, 'timestamp_out_of_tolerance, authentic'],
    ['milliseconds, 30 s old', T * 1000, { toleranceSeconds: 30 }, T + 30, 'accepted'],
    [
      'a year-old signature with a fresh t',
      T + 31_536_000,
      { toleranceSeconds: 30 },
      T + 31_536_000,
      'accepted',
    ],
    ['unreadable, no tolerance', 'soon', {}, T, 'accepted'],
    ['unreadable', 'soon', { toleranceSeconds: 30 }, T, 'timestamp_unreadable, authentic'],
  ])('%s', (_, t, options, now, verdict) => {
    const result = verify(callbackData(), signatureFor('ORD-1001', t), { ...options, now: () => now * 1000 });
    expect(codeOf(result)).toBe(verdict);
  });

  test('the age is reported with and without a tolerance', () => {
    expect(accepted(verify(callbackData())).timestamp).toEqual({
      text: `${T}`,
      unit: 'seconds',
      ageSeconds: 10,
    });
    const late = verify(callbackData(), SIGNATURE, { toleranceSeconds: 5 });
    expect(late).toMatchObject({ evidence: { timestamp: { ageSeconds: 10 } } });
  });

  test('the clock is read at every verification, not at construction', () => {
    let seconds = T;
    const given = createVerifier({
      signingKey: SIGNING_KEY,
      toleranceSeconds: 30,
      now: () => seconds * 1000,
    });
    const verdict = () => codeOf(given.verifyCallback({ signature: SIGNATURE, body: callbackData() }));
    expect(verdict()).toBe('accepted');
    seconds += 31;
    expect(verdict()).toBe('timestamp_out_of_tolerance, authentic');
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '30'])(
    'a tolerance of %s is refused at construction',
    (tolerance) => {
      const options = { signingKey: SIGNING_KEY, toleranceSeconds: tolerance as number };
      expect(() => createVerifier(options)).toThrow(expect.objectContaining({ option: 'toleranceSeconds' }));
    },
  );
});

describe('3.3 a redirect carries the same signature, and is another type that credits nothing', () => {
  // In each test, and not once for the group: a refusal must fail tests, not the collection of the file.
  const both = () => ({
    redirect: accepted(verifier.verifyRedirect(QUERY)),
    callback: accepted(verifier.verifyCallback({ signature: SIGNATURE, body: callbackData() })),
  });

  test('both verify with one signature, and say which channel they came on', () => {
    const { redirect, callback } = both();
    expect([callback.kind, redirect.kind]).toEqual(['callback', 'redirect']);
    expect(redirect.transitionId).toBe(callback.transitionId);
  });

  test('confirmAmount refuses a redirect, a copy and a hand-made object', () => {
    const { redirect, callback } = both();
    const expected = { currency: 'UGX', amount: 500 };
    // @ts-expect-error a redirect is not a callback, in the types either
    expect(() => confirmAmount(redirect, expected)).toThrow(ConfigurationError);
    // @ts-expect-error neither is a copy
    expect(() => confirmAmount({ ...callback }, expected)).toThrow(ConfigurationError);
    const forged: VerifiedCallback = Object.create(
      Object.getPrototypeOf(callback),
      Object.getOwnPropertyDescriptors(callback),
    );
    expect(() => confirmAmount(forged, expected)).toThrow(ConfigurationError);
    expect(confirmAmount(callback, expected)).toEqual({ ok: true });
  });
});

describe("3.4 ':' in a signed field is ambiguous, but in the one field that colonIn names", () => {
  const paid = callbackData({ merchant_reference: 'ORD-9999:x' });
  const shifted = callbackData({ merchant_reference: 'ORD-9999', internal_reference: 'x:INT-77' });
  const signature = signatureFor('ORD-9999:x');

  test.each([
    [undefined, 'ambiguous, authentic', 'ambiguous, authentic'],
    ['merchant_reference', 'accepted', 'ambiguous, authentic'],
    ['internal_reference', 'ambiguous, authentic', 'accepted'],
  ] as const)(
    'colonIn %s: of two bodies that sign alike, at most one verifies',
    (colonIn, asPaid, asShifted) => {
      expect(codeOf(verify(paid, signature, { colonIn }))).toBe(asPaid);
      expect(codeOf(verify(shifted, signature, { colonIn }))).toBe(asShifted);
    },
  );

  test('colonIn names one of the two references, or is refused at construction', () => {
    for (const colonIn of ['event', 'transaction_status', '', true, ['merchant_reference']]) {
      const options = { signingKey: SIGNING_KEY, colonIn: colonIn as 'merchant_reference' };
      expect(() => createVerifier(options)).toThrow(expect.objectContaining({ option: 'colonIn' }));
    }
  });
});

describe('3.5 a signed field is an own data property and a well-formed string', () => {
  test.each([
    ['missing', undefined, 'undefined'],
    ['a number', 1001, '1001'],
    ['an array of one string', ['ORD-1001'], 'ORD-1001'],
    ['a String object', new String('ORD-1001'), 'ORD-1001'],
    ['an object with toString', { toString: () => 'ORD-1001' }, 'ORD-1001'],
    ['a lone high surrogate', '\ud800', '\ufffd'],
    ['a lone low surrogate', '\udfff', '\ufffd'],
  ] as const)('%s is not', (_, value, signedAs) => {
    const body = callbackData({ merchant_reference: value });
    expect(codeOf(verify(body, signatureFor(signedAs)))).toBe('signed_field_malformed');
  });

  test('a getter is not, and never runs', () => {
    let ran = 0;
    const body = callbackData();
    Object.defineProperty(body.payload, 'merchant_reference', {
      enumerable: true,
      get: () => `ORD-${1000 + ++ran}`,
    });
    expect(codeOf(verify(body))).toBe('signed_field_malformed');
    expect(ran).toBe(0);
  });

  test('an inherited field is not', () => {
    const { event, payload } = callbackData();
    expect(codeOf(verify({ event, payload: Object.create(payload) }))).toBe('signed_field_malformed');
    expect(codeOf(verify(Object.create({ event, payload })))).toBe('body_malformed');
    expect(codeOf(verify(Object.assign(Object.create({ event }), { payload })))).toBe(
      'signed_field_malformed',
    );
  });

  test('an empty string is a string, and nothing is normalised', () => {
    expect(codeOf(verify(callbackData({ merchant_reference: '' }), signatureFor('')))).toBe('accepted');
    for (const [signed, sent] of [
      ['Caf\u00e9', 'Cafe\u0301'],
      ['Cafe\u0301', 'Caf\u00e9'],
    ] as const) {
      expect(codeOf(verify(callbackData({ merchant_reference: signed }), signatureFor(signed)))).toBe(
        'accepted',
      );
      expect(codeOf(verify(callbackData({ merchant_reference: sent }), signatureFor(signed)))).toBe(
        'mismatch',
      );
    }
  });
});

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
    expect(codeOf(verify(callbackData(), signature))).toBe(verdict);
  });

  function above(hash: string): string {
    return Array.from(hash, (digit) => String.fromCodePoint(0x100 + (digit.codePointAt(0) ?? 0))).join('');
  }

  test('an array is malformed, even of one good header; none at all is missing', () => {
    const body = callbackData();
    expect(codeOf(verifier.verifyCallback({ signature: [SIGNATURE], body }))).toBe('signature_malformed');
    expect(codeOf(verifier.verifyCallback({ signature: undefined, body }))).toBe('signature_missing');
    expect(codeOf(verifier.verifyCallback({ signature: null, body }))).toBe('signature_missing');
  });
});

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
    expect(codeOf(result(SIGNATURE, NOW - 1))).toBe('key_expired');
    expect(codeOf(result(`t=${T},s=${HASH_OF_EMPTY_KEY}`, NOW))).toBe('mismatch');
  });
});

describe('3.8 verification is total, says the same to the network, and keeps evidence of what is authentic', () => {
  const onRefused: string[] = [];
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    now: () => NOW,
    toleranceSeconds: 5,
    onCallback: () => undefined,
    onRefused: ({ code }) => onRefused.push(code),
  });
  const send = (signature: string | undefined, data: unknown) =>
    receiveCallback(
      {
        method: 'POST',
        headers: signature === undefined ? [] : [['hmac-signature', signature]],
        body: { state: 'parsed', data },
      },
      receiver,
    );

  test('one answer for every refusal; the code goes to onRefused', async () => {
    const answers = [
      await send(undefined, callbackData()),
      await send('nonsense', callbackData()),
      await send(`t=${T},s=${HASH_OF_OTHER_KEY}`, callbackData()),
      await send(SIGNATURE, 'not JSON'),
      await send(SIGNATURE, callbackData({ merchant_reference: 5 })),
      await send(signatureFor('A:B'), callbackData({ merchant_reference: 'A:B' })),
      await send(signatureFor('ORD-1001', 'soon'), callbackData()),
      await send(SIGNATURE, callbackData()),
    ];
    const constant = {
      status: 401,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"error":"unauthorized"}',
    };
    expect(answers).toEqual(answers.map(() => constant));
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

  test('evidence is for a person: confirmAmount refuses it, however well its amount fits', () => {
    const refusal = verify(callbackData({ merchant_reference: 'A:B' }), signatureFor('A:B'));
    if (refusal.ok || !refusal.authentic) throw new Error('no evidence');
    const { evidence } = refusal;
    expect(evidence.unsigned.transaction_amount).toBe(500);
    // @ts-expect-error evidence is not a callback, in the types either
    expect(() => confirmAmount(evidence, { currency: 'UGX', amount: 500 })).toThrow(ConfigurationError);
  });

  test('an authentic refusal carries what came; a forged one carries nothing', () => {
    const body = callbackData({ merchant_reference: 'A:B' });
    const authentic = verify(body, signatureFor('A:B'));
    expect(authentic).toMatchObject({ code: 'ambiguous', evidence: { raw: body, keyId: 'default' } });
    const forged = verify(body, `t=${T},s=${HASH_OF_OTHER_KEY}`);
    expect(Object.keys(forged).sort()).toEqual(['authentic', 'code', 'hint', 'ok']);
  });
});

describe('3.9 unknown is not wrong', () => {
  test('an unknown event, type and status verify, and are no completed transaction', () => {
    const body = {
      event: 'transaction.reversed',
      payload: { ...callbackData({ transaction_type: 'REVERSAL', transaction_status: 'REVERSED' }).payload },
    };
    const unknown = accepted(verify(body, `t=${T},s=${HASH_OF_UNKNOWN}`));
    expect(unknown.signed.event).toBe('transaction.reversed');
    expect([unknown, accepted(verify(callbackData()))].map(isTransactionCompleted)).toEqual([false, true]);
  });

  test('neither the event nor the status alone makes a completed transaction', () => {
    const otherEvent = verify(
      { ...callbackData(), event: 'payout.completed' },
      `t=${T},s=${HASH_OF_OTHER_EVENT}`,
    );
    const otherStatus = verify(callbackData({ transaction_status: 'FAILED' }), `t=${T},s=${HASH_OF_FAILED}`);
    expect(isTransactionCompleted(accepted(otherEvent))).toBe(false);
    expect(isTransactionCompleted(accepted(otherStatus))).toBe(false);
  });

  test('missing and oddly typed unsigned fields are left out of unsigned, and stay in raw', () => {
    const odd = {
      id: '1001',
      request_amount: '500',
      transaction_amount: null,
      customer_name: 5,
      charge_customer: 0,
      channel: 'ussd',
    };
    const result = accepted(verify(callbackData(odd)));
    expect(Object.keys(result.unsigned).sort()).toEqual([
      'provider_code',
      'request_currency',
      'status_message',
      'total_credit',
      'transaction_account',
      'transaction_charge',
      'transaction_currency',
    ]);
    expect(result.raw).toMatchObject({ payload: odd });
  });
});

describe('3.10 parsed or not, it verifies; consumed and not parsed, it says what to mount where', () => {
  const text = JSON.stringify(callbackData());
  const errors: unknown[] = [];
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    onCallback: () => undefined,
    onError: (error) => errors.push(error),
  });
  async function* stream(bytes: Uint8Array) {
    yield* [bytes.subarray(0, 7), bytes.subarray(7)];
  }
  async function answer(
    body: Parameters<typeof receiveCallback>[0]['body'],
    encoding: [string, string][] = [],
  ) {
    const headers: [string, string][] = [['Hmac-Signature', SIGNATURE], ...encoding];
    return (await receiveCallback({ method: 'POST', headers, body }, receiver)).status;
  }
  const unread = (bytes: Uint8Array) => ({ state: 'unread', stream: stream(bytes) }) as const;

  test('bytes, text and the parsed object get one verdict', () => {
    for (const body of [text, Buffer.from(text), new Uint8Array(Buffer.from(text)), callbackData()]) {
      expect(codeOf(verify(body))).toBe('accepted');
    }
  });

  test('invalid UTF-8 and a signed name twice are refused in bytes', () => {
    const invalid = Buffer.from(text.replace('ORD-1001', 'ORD-100\u0001'), 'latin1');
    invalid[invalid.indexOf(1)] = 0xff;
    expect(codeOf(verify(invalid))).toBe('body_malformed');
    const twice = text.replace('"payload":{', '"payload":{"merchant_reference":"ORD-1",');
    expect(codeOf(verify(twice))).toBe('body_malformed, authentic');
  });

  test('unread and parsed are answered 200; consumed is an error that names the remedy', async () => {
    expect(await answer(unread(Buffer.from(text)))).toBe(200);
    expect(await answer({ state: 'parsed', data: callbackData() })).toBe(200);
    expect(errors).toEqual([]);
    expect(await answer({ state: 'consumed' })).toBe(500);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/Mount paymentCallbacks\(\) before/) }),
    ]);
  });

  test('64 KiB is the limit, before and after decompression', async () => {
    const padded = (length: number) => Buffer.from(text.padEnd(length, ' '));
    const gzip: [string, string][] = [['content-encoding', 'gzip']];
    expect(await answer(unread(padded(65_536)))).toBe(200);
    expect(await answer(unread(padded(65_537)))).toBe(413);
    expect(await answer(unread(gzipSync(padded(65_536))), gzip)).toBe(200);
    expect(await answer(unread(gzipSync(padded(65_537))), gzip)).toBe(413);
  });
});

describe('3.11 redirects are parsed from the raw query, the same way everywhere', () => {
  const nested = QUERY.replace(/&(\w+_reference|transaction_\w+)=/g, '&payload[$1]=');

  test.each([
    ['flat', QUERY],
    ['nested', nested],
    ['nested, encoded', nested.replaceAll('[', '%5B').replaceAll(']', '%5D')],
    ['with a question mark', `?${QUERY}`],
    ['a request target', `/payments/return?${QUERY}`],
    ['an absolute address', `https://shop.example/payments/return?${QUERY}#top`],
    ['a URL', new URL(`https://shop.example/payments/return?${QUERY}`)],
    ['URLSearchParams', new URLSearchParams(QUERY)],
  ])('%s', (_, query) => {
    expect(accepted(verifier.verifyRedirect(query)).signed.merchant_reference).toBe('ORD-1001');
  });

  test.each([
    ['a repeated name', `${QUERY}&merchant_reference=ORD-1001`, 'query_malformed'],
    ['flat and nested', `${QUERY}&payload[merchant_reference]=ORD-1001`, 'query_malformed'],
    ['event[]', `${QUERY}&event[]=x`, 'query_malformed'],
    ['a bad escape', `${QUERY}&x=%FF`, 'query_malformed'],
    ['a repeated unknown name', `${QUERY}&x=1&x=2`, 'accepted'],
    ['no signature', QUERY.replace('hmac_signature', 'signature'), 'signature_missing'],
    ['a field missing', QUERY.replace('event=', 'e='), 'signed_field_malformed'],
  ])('%s', (_, query, verdict) => {
    expect(codeOf(verifier.verifyRedirect(query))).toBe(verdict);
    expect(codeOf(verifier.verifyRedirect(new URL(`https://shop.example/?${query}`)))).toBe(verdict);
  });

  test('a + is a space, and %2B a plus sign', () => {
    const query = QUERY.replace('ORD-1001', 'A+B').replace(HASH, signatureFor('A B').slice(-64));
    expect(codeOf(verifier.verifyRedirect(query))).toBe('accepted');
    expect(codeOf(verifier.verifyRedirect(query.replace('A+B', 'A%2BB')))).toBe('mismatch');
  });

  test('a query that the runtime has decoded gets the verdict of its text: U+FFFD may be a bad escape', () => {
    const text = (reference: string) =>
      QUERY.replace('ORD-1001', reference).replace(SIGNATURE, signatureFor('\ufffd'));
    expect(codeOf(verifier.verifyRedirect(text('%EF%BF%BD')))).toBe('accepted');
    expect(codeOf(verifier.verifyRedirect(text('%FF')))).toBe('query_malformed');
    expect(codeOf(verifier.verifyRedirect(new URLSearchParams(text('%FF'))))).toBe('query_malformed');
  });

  test('redirectFields names other parameters, which then take the place of ours', () => {
    const renamed = createVerifier({
      signingKey: SIGNING_KEY,
      redirectFields: { merchant_reference: 'ref', hmac_signature: 'sig' },
    });
    const query = QUERY.replace('merchant_reference=', 'ref=').replace('hmac_signature=', 'sig=');
    expect(codeOf(renamed.verifyRedirect(query))).toBe('accepted');
    expect(codeOf(renamed.verifyRedirect(`${query}&ref=ORD-1001`))).toBe('query_malformed');
    expect(codeOf(renamed.verifyRedirect(QUERY))).toBe('signature_missing');
  });

  test('redirectFields is checked at construction', () => {
    for (const redirectFields of [
      { amount: 'a' },
      { event: '' },
      { event: 5 },
      { event: 'x', transaction_type: 'x' },
    ]) {
      const options = { signingKey: SIGNING_KEY, redirectFields: redirectFields as { event: string } };
      expect(() => createVerifier(options)).toThrow(
        expect.objectContaining({ option: expect.stringMatching(/^redirectFields/) }),
      );
    }
  });
});

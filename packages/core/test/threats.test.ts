import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assertMerchantReference,
  ConfigurationError,
  confirmAmount,
  createCallbackReceiver,
  createVerifier,
  type Refusal,
  receiveCallback,
  type SignedFields,
  transitionId,
  type VerifiedCallback,
  type VerifiedRedirect,
  type Verifier,
} from '../src/index.ts';
import { incomingCallback } from '../src/node.ts';
import { signCallback } from '../src/testing.ts';
import { anything } from './anything.ts';
import {
  callbackData,
  HASH,
  HASH_OF_EMPTY_KEY,
  OTHER_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
  T,
} from './signed-callbacks.ts';

// One test, or one group, for every attack on the signature: A1 to A17. What has to be stored against A1, A5, A6 and
// A10 belongs to the inbox.

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

function accepted(result: Result): VerifiedCallback | VerifiedRedirect {
  if (!result.ok) throw new Error(`refused: ${result.code}`);
  return result;
}

const wellFormed = fc.string({ unit: 'grapheme', maxLength: 12 });
const fieldText = fc.oneof(
  wellFormed,
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ':', 'a:b', '\ufffd', '\0', '__proto__', 'undefined', 'é', 'e\u0301'),
);
const signedFields: fc.Arbitrary<SignedFields> = fc.record({
  event: fieldText,
  merchant_reference: fieldText,
  internal_reference: fieldText,
  transaction_type: fieldText,
  transaction_status: fieldText,
});

function dataOf(
  { event, ...payload }: SignedFields,
  unsigned: object = {},
): { event: string; payload: object } {
  return { event, payload: { ...unsigned, ...payload } };
}

describe('A1: a replayed signature under a rewritten t', () => {
  test('A1: any t passes beside one signature, so the result only reports it, and the transition stays the same', () => {
    const strict = createVerifier({ signingKey: SIGNING_KEY, toleranceSeconds: 30, now: () => NOW });
    fc.assert(
      fc.property(fc.integer({ min: T - 20, max: T + 40 }), (t) => {
        const result = accepted(
          strict.verifyCallback({ signature: `t=${t},s=${HASH}`, body: callbackData() }),
        );
        expect(result.timestamp.text).toBe(`${t}`);
        expect(result.transitionId).toBe(accepted(verify(callbackData())).transitionId);
      }),
    );
  });
});

describe('A2: other money under a valid signature', () => {
  test('A2: whatever the unsigned fields are, the signed ones are as signed, and no other amount is confirmed', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ noNaN: true }), (extra, amount) => {
        const unsigned = { ...extra, request_amount: amount, transaction_amount: amount };
        const { event, payload } = callbackData();
        const result = accepted(
          verify({ event, payload: { ...payload, ...unsigned, ...onlySigned(payload) } }),
        );
        expect(result.signed.merchant_reference).toBe('ORD-1001');
        if (result.kind !== 'callback') throw new Error('a callback became a redirect');
        const confirmed = confirmAmount(result, { currency: 'UGX', amount: '500' });
        if (amount !== 500) expect(confirmed.ok).toBe(false);
      }),
    );
  });

  function onlySigned(payload: Record<string, unknown>): Record<string, unknown> {
    const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
    return { merchant_reference, internal_reference, transaction_type, transaction_status };
  }
});

describe("A3: a shift over ':'", () => {
  // Every tuple over this alphabet up to two characters a field: 7^5 of them.
  const texts = ['', 'a', ':', 'a:', ':a', 'aa', '::'];
  const tuples = texts.flatMap((event) =>
    texts.flatMap((merchant_reference) =>
      texts.flatMap((internal_reference) =>
        texts.flatMap((transaction_type) =>
          texts.map((transaction_status) => ({
            event,
            merchant_reference,
            internal_reference,
            transaction_type,
            transaction_status,
          })),
        ),
      ),
    ),
  );

  test.each([undefined, 'merchant_reference', 'internal_reference'] as const)(
    'A3: with colonIn %s no two accepted bodies share a signature, exhaustively',
    (colonIn) => {
      const given = createVerifier({ signingKey: SIGNING_KEY, colonIn });
      const seen = new Map<string, string>();
      let refused = 0;
      for (const fields of tuples) {
        const data = dataOf(fields);
        const signature = signCallback({ signingKey: SIGNING_KEY, data, timestamp: T });
        const result = given.verifyCallback({ signature, body: data });
        if (result.ok) {
          expect(seen.get(signature)).toBeUndefined();
          seen.set(signature, JSON.stringify(fields));
        } else {
          refused++;
          expect(result).toMatchObject({ code: 'ambiguous', authentic: true });
        }
      }
      // 3 of the 7 texts hold no colon; the field that is named may hold any of the 7.
      expect(seen.size).toBe(colonIn === undefined ? 3 ** 5 : 3 ** 4 * 7);
      expect(refused).toBe(tuples.length - seen.size);
    },
  );

  test('A3: control: without the rule thousands of these bodies would share a signature', () => {
    const signatures = tuples.map((fields) => Object.values(fields).join(':'));
    expect(tuples.length - new Set(signatures).size).toBeGreaterThan(5000);
  });

  test('A3: assertMerchantReference passes exactly what can be verified later', () => {
    fc.assert(
      fc.property(
        fieldText,
        fc.constantFrom(undefined, 'merchant_reference', 'internal_reference'),
        (text, colonIn) => {
          const data = { event: 'e', payload: { ...callbackData().payload, merchant_reference: text } };
          const isVerifiable =
            text.isWellFormed() &&
            createVerifier({ signingKey: SIGNING_KEY, colonIn }).verifyCallback({
              signature: signCallback({ signingKey: SIGNING_KEY, data }),
              body: data,
            }).ok;
          let passes = true;
          try {
            assertMerchantReference(text, { colonIn });
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigurationError);
            passes = false;
          }
          // An empty one verifies, and no order should have it.
          expect(passes).toBe(isVerifiable && text !== '');
        },
      ),
    );
  });
});

describe('A4: a signature taken from one channel to the other', () => {
  test('A4: it verifies on both, and the kinds cannot be exchanged', () => {
    fc.assert(
      fc.property(signedFields, (fields) => {
        fc.pre(Object.values(fields).every((text) => text.isWellFormed() && !text.includes(':')));
        const data = dataOf(fields);
        const signature = signCallback({ signingKey: SIGNING_KEY, data });
        const callback = accepted(verify(data, signature));
        const redirect = accepted(
          verifier.verifyRedirect(`?${new URLSearchParams({ ...fields, hmac_signature: signature })}`),
        );
        expect([callback.kind, redirect.kind]).toEqual(['callback', 'redirect']);
        expect({ ...redirect.signed }).toEqual({ ...callback.signed });
        expect(() => confirmAmount(redirect as never, { currency: 'UGX', amount: 1 })).toThrow(
          ConfigurationError,
        );
      }),
    );
  });
});

describe('A5: a forged body that comes first', () => {
  test('A5: it is not confirmed, and the genuine one after it is, as the same transition', () => {
    const expected = { currency: 'UGX', amount: '500' };
    const [forged, genuine] = [5_000_000, 500].map((amount) =>
      verifier.verifyCallback({
        signature: SIGNATURE,
        body: callbackData({ request_amount: amount, transaction_amount: amount }),
      }),
    );
    if (!forged?.ok || !genuine?.ok) throw new Error('one of the two was refused');
    expect(confirmAmount(forged, expected).ok).toBe(false);
    expect(confirmAmount(genuine, expected).ok).toBe(true);
    expect(forged.transitionId).toBe(genuine.transitionId);
  });
});

describe('A6: one signature, several ids', () => {
  test('A6: the transition id follows the account and the signed fields, and nothing else', () => {
    const ids = [1, 2, 3].map((id) => accepted(verify(callbackData({ id }))).transitionId);
    expect(new Set(ids).size).toBe(1);
    const rotated = createVerifier({ signingKey: [{ id: 'b', key: OTHER_KEY }] });
    const signature = signCallback({ signingKey: OTHER_KEY, data: callbackData() });
    expect(accepted(rotated.verifyCallback({ signature, body: callbackData() })).transitionId).toBe(ids[0]);
  });

  test('A6: fields are length-prefixed: no two tuples share an id, where a join would', () => {
    const fields = { internal_reference: 'i', transaction_type: 't', transaction_status: 's' };
    const shifts = [
      { ...fields, event: 'e', merchant_reference: 'A:B' },
      { ...fields, event: 'e:A', merchant_reference: 'B' },
      { ...fields, event: 'eA', merchant_reference: ':B' },
      { ...fields, event: '', merchant_reference: 'e:A:B' },
    ];
    const ids = shifts.flatMap((signed) => [
      transitionId(signed),
      transitionId(signed, 'e'),
      transitionId(signed, 'e:'),
    ]);
    expect(new Set(ids).size).toBe(12);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
  });

  test('A6: the id is a literal that must never change: databases are full of it', () => {
    expect(accepted(verify(callbackData())).transitionId).toBe(
      '97f95b316e2c080cd2b6b9d40f2ea22caf4c897e2ca83978b06e4b2d74268ca2',
    );
    const signed = {
      event: 'transaction.completed',
      merchant_reference: 'Caf\u00e9\u{1f600}',
      internal_reference: '',
      transaction_type: 'COLLECTION',
      transaction_status: 'COMPLETED',
    };
    expect(transitionId(signed, 'shop-\u00fc')).toBe(
      'e5d92359497933a046fd43eb6b0ef2b0347badd0205c5d009c98a06ff9f1f8f2',
    );
  });
});

describe('A7, A8: values that stringify or encode alike', () => {
  test('A7, A8: a verified field is the very string that came, own and well-formed', () => {
    const names = [
      'merchant_reference',
      'internal_reference',
      'transaction_type',
      'transaction_status',
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...names), anything, (name, value) => {
        const asText = coerced(value);
        const data = callbackData({ [name]: asText });
        const signature = signCallback({ signingKey: SIGNING_KEY, data });
        const result = verify({ event: data.event, payload: { ...data.payload, [name]: value } }, signature);
        const isProper = typeof value === 'string' && value.isWellFormed();
        if (!isProper) expect(codeOf(result)).toBe('signed_field_malformed');
        else if (value.includes(':')) expect(codeOf(result)).toBe('ambiguous');
        else expect(accepted(result).signed[name]).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  /** What a coercing verifier would sign for the value. */
  function coerced(value: unknown): string {
    try {
      return String(value).toWellFormed();
    } catch {
      return '';
    }
  }
});

describe('A9: normalisation', () => {
  test('A9: a text and its normal forms are different references', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD'),
        (text, form) => {
          fc.pre(!text.includes(':') && !text.normalize(form).includes(':'));
          const signature = signCallback({
            signingKey: SIGNING_KEY,
            data: callbackData({ merchant_reference: text }),
          });
          const sent = verify(callbackData({ merchant_reference: text.normalize(form) }), signature);
          expect(codeOf(sent)).toBe(text === text.normalize(form) ? 'accepted' : 'mismatch');
        },
      ),
    );
  });
});

describe('A10: an unstorable character in an unsigned field', () => {
  test('A10: the callback verifies, and raw keeps what came', () => {
    const text = JSON.stringify(callbackData({ customer_name: 'A\0B', status_message: '\ud800' }));
    expect(accepted(verify(text)).raw).toMatchObject({
      payload: { customer_name: 'A\0B', status_message: '\ud800' },
    });
  });
});

describe('A11: the header grammar', () => {
  // A second reading of the rule, written as one regular expression: no code is shared with the parser.
  const part = String.raw`(?!t=|s=)[^=,\s\p{Cc}]+=[^=,\s\p{Cc}]+`;
  const t = String.raw`t=[^=,\s\p{Cc}]+`;
  const s = 's=[0-9a-f]{64}';
  const rest = `(?:${part},)*`;
  const grammar = new RegExp(`^(?=.{1,256}$)${rest}(?:${t},${rest}${s}|${s},${rest}${t})(?:,${part})*$`, 'u');
  const piece = fc.constantFrom<string[]>(
    't=1',
    's=1',
    `s=${HASH}`,
    `t=${T}`,
    'v=1',
    'T=1',
    'S=1',
    't=',
    's=',
    '=',
    '',
    ' ',
    't',
    's',
    ',',
    'x',
    `S=${HASH}`,
    '\t',
    '\0',
    'v=a=b',
    `s=${HASH.toUpperCase()}`,
    't=now',
    'ts=1',
  );

  test('A11: exactly the grammar is accepted, over shuffled pieces', () => {
    const verdicts = { accepted: 0, signature_malformed: 0 };
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 5 }),
        fc.shuffledSubarray([`t=${T}`, `s=${HASH}`]),
        (others, own) => {
          fc.pre(others.concat(own).join(',') !== '');
          const header = others.concat(own).join(',');
          const code = codeOf(verify(callbackData(), header));
          expect(code).toBe(grammar.test(header) ? 'accepted' : 'signature_malformed');
          verdicts[code as keyof typeof verdicts]++;
        },
      ),
      { numRuns: 3000 },
    );
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(20);
  });

  test('A11: one changed character of a good header never verifies as another digest', () => {
    fc.assert(
      fc.property(
        fc.nat(SIGNATURE.length - 1),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        (at, character) => {
          fc.pre(SIGNATURE[at] !== character);
          const changed = SIGNATURE.slice(0, at) + character + SIGNATURE.slice(at + 1);
          const result = verify(callbackData(), changed);
          // Only the text of t may be another and still verify: it is not signed.
          if (result.ok) expect(changed.endsWith(`,s=${HASH}`) && changed.startsWith('t=')).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('A12: two headers', () => {
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
  const post = async (headers: [string, string][]) =>
    (
      await receiveCallback(
        { method: 'POST', headers, body: { state: 'parsed', data: callbackData() } },
        receiver,
      )
    ).status;

  test('A12: repeated, equal or not, in any case of the name, is refused', async () => {
    const forged = `t=1,s=${HASH_OF_EMPTY_KEY}`;
    expect(await post([['hmac-signature', SIGNATURE]])).toBe(200);
    expect(
      await post([
        ['hmac-signature', SIGNATURE],
        ['Hmac-Signature', SIGNATURE],
      ]),
    ).toBe(401);
    expect(
      await post([
        ['HMAC-SIGNATURE', forged],
        ['hmac-signature', SIGNATURE],
      ]),
    ).toBe(401);
    expect(
      await post([
        ['hmac-signature', SIGNATURE],
        ['hmac-signature', forged],
      ]),
    ).toBe(401);
    expect(await post([['hmac-signature', `${forged}, ${SIGNATURE}`]])).toBe(401);
    expect(
      await post([
        ['hmac-signature', SIGNATURE],
        ['hmac-signature', ''],
      ]),
    ).toBe(401);
  });

  test("A12: Node's rawHeaders keep two headers apart where its headers join them", () => {
    const request = {
      method: 'POST',
      rawHeaders: ['hmac-signature', 'a', 'Hmac-Signature', 'b'],
      readableDidRead: true,
      async *[Symbol.asyncIterator]() {
        yield new Uint8Array();
      },
    };
    expect([...incomingCallback(request, {}).headers]).toEqual([
      ['hmac-signature', 'a'],
      ['Hmac-Signature', 'b'],
    ]);
  });
});

describe('A13: hexadecimal that decodes to the right bytes', () => {
  const tricked = Array.from(HASH, (digit) => String.fromCharCode(0x100 + digit.charCodeAt(0))).join('');

  test("A13: control: Node's decoder takes code points 256 above the digits for the digits", () => {
    expect(Buffer.from(tricked, 'hex').toString('hex')).toBe(HASH);
  });

  test('A13: in the header and, percent-encoded, in the query it is malformed', () => {
    expect(codeOf(verify(callbackData(), SIGNATURE.replace(HASH, tricked)))).toBe('signature_malformed');
    const query = QUERY.replace(HASH, encodeURIComponent(tricked));
    expect(codeOf(verifier.verifyRedirect(query))).toBe('signature_malformed');
  });
});

describe('A14, A15: one query, several readings', () => {
  test('A14: the first and the last of a repeated name are never told apart: it is refused', () => {
    const names = [
      'event',
      'merchant_reference',
      'internal_reference',
      'transaction_type',
      'transaction_status',
    ];
    const spellings = names.flatMap((name) => [
      name,
      `${name}[]`,
      `${name}[0]`,
      encodeURIComponent(`${name}[]`),
    ]);
    const nested = names.slice(1).map((name) => `payload[${name}]`);
    fc.assert(
      fc.property(
        fc.constantFrom(...spellings, ...nested, 'hmac_signature', 'hmac_signature[]'),
        fc.webSegment(),
        fc.boolean(),
        (name, value, first) => {
          const query = first ? `${name}=${value}&${QUERY}` : `${QUERY}&${name}=${value}`;
          expect(codeOf(verifier.verifyRedirect(query))).toBe('query_malformed');
        },
      ),
    );
  });

  test('A15: what verifies is what the strict decoder of the platform reads', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.constantFrom('', '%', '%F', '%FF', '%ED%A0%80', '%zz'),
        (text, bad) => {
          fc.pre(text.isWellFormed() && !text.includes(':'));
          const signature = signCallback({
            signingKey: SIGNING_KEY,
            data: callbackData({ merchant_reference: text }),
          });
          const query = QUERY.replace('ORD-1001', encodeURIComponent(text) + bad).replace(
            SIGNATURE,
            signature,
          );
          const result = verifier.verifyRedirect(query);
          if (bad !== '') expect(codeOf(result)).toBe('query_malformed');
          else expect(accepted(result).signed.merchant_reference).toBe(text);
        },
      ),
    );
  });
});

describe('A16: prototype pollution', () => {
  test('A16: hostile names change no prototype and no verdict, in a body and in a query', () => {
    const hostile = '"__proto__":{"polluted":1,"event":"x"},"constructor":{"prototype":{"polluted":1}}';
    const text = JSON.stringify(callbackData()).replace('"payload":{', `${hostile},"payload":{${hostile},`);
    const result = accepted(verify(text));
    const redirect = accepted(
      verifier.verifyRedirect(`__proto__[polluted]=1&__proto__=1&constructor=1&${QUERY}`),
    );
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    for (const { signed, unsigned } of [result, redirect]) {
      expect(signed.merchant_reference).toBe('ORD-1001');
      expect([Object.getPrototypeOf(signed), Object.getPrototypeOf(unsigned)]).toEqual([null, null]);
      expect(Object.isFrozen(signed) && Object.isFrozen(unsigned)).toBe(true);
    }
    expect(Object.getPrototypeOf(redirect.raw)).toBeNull();
  });

  test('A16: a polluted Object.prototype lends no field', () => {
    const polluted = { value: 'ORD-1001', configurable: true, writable: true, enumerable: true };
    Object.defineProperty(Object.prototype, 'merchant_reference', polluted);
    try {
      const { merchant_reference: _, ...payload } = callbackData().payload;
      expect(codeOf(verify({ event: 'transaction.completed', payload }))).toBe('signed_field_malformed');
      expect(codeOf(verify(callbackData({ merchant_reference: 'ORD-1002' })))).toBe('mismatch');
      expect(accepted(verify(callbackData())).signed.merchant_reference).toBe('ORD-1001');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'merchant_reference');
    }
  });
});

describe('A17: a name twice', () => {
  const watched = new Set(['event', 'payload']);
  const watchedInPayload = new Set([
    'merchant_reference',
    'internal_reference',
    'transaction_type',
    'transaction_status',
  ]);
  const name = fc.constantFrom(
    'event',
    'payload',
    'merchant_reference',
    'transaction_status',
    'id',
    'x',
    '',
    '"',
    '\\',
    '{"event":1',
  );
  const spelled = fc.tuple(name, fc.boolean()).map(([text, isEscaped]) => ({
    text,
    json: isEscaped
      ? `"${Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(text),
  }));
  const value = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom('{"event":1,"event":2}', '{"merchant_reference":1}', '[{"payload":{}}]', '"\\\\"', '"}"'),
  );
  const members = fc.array(fc.tuple(spelled, value), { maxLength: 4 });

  test('A17: refused exactly when a signed name stands twice in its own object, whatever stands around it', () => {
    const verdicts = { accepted: 0, body_malformed: 0 };
    fc.assert(
      fc.property(members, members, (before, inside) => {
        const top = [...before.map(([{ text }]) => text), 'event', 'payload'];
        const inner = [...inside.map(([{ text }]) => text), ...watchedInPayload];
        const isRepeated = repeats(top, watched) || repeats(inner, watchedInPayload);
        const payload = [...inside.map(write), JSON.stringify(callbackData().payload).slice(1, -1)].join(',');
        const text = `{${[...before.map(write), '"event":"transaction.completed"', `"payload":{${payload}}`].join(' , ')}}`;
        const result = verify(text);
        expect(result).toMatchObject(isRepeated ? { code: 'body_malformed', authentic: true } : { ok: true });
        verdicts[isRepeated ? 'body_malformed' : 'accepted']++;
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(20);
  });

  function repeats(names: string[], signed: ReadonlySet<string>): boolean {
    const known = names.filter((text) => signed.has(text));
    return new Set(known).size < known.length;
  }

  function write([{ json }, content]: [{ json: string }, string]): string {
    return `${json}\n:\t${content}`;
  }
});

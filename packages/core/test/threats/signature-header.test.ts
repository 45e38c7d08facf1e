import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '../../src/receive/index.ts';
import { verifier } from '../ordinary-verifier.ts';
import {
  callbackData,
  HASH,
  HASH_OF_EMPTY_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
  T,
} from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// Headers that two readers would read in two ways, and digits that are none.

describe('threat A11: the header grammar', () => {
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

  test('threat A11: exactly the grammar is accepted, over shuffled pieces', () => {
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

  test('threat A11: one changed character of a good header never verifies as another digest', () => {
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

describe('threat A12: two headers', () => {
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
  const post = async (headers: [string, string][]) =>
    (
      await receiveCallback(
        { method: 'POST', headers, body: { state: 'parsed', data: callbackData() } },
        receiver,
      )
    ).status;

  test('threat A12: repeated, equal or not, in any case of the name, is refused', async () => {
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

  test("threat A12: Node's rawHeaders keep two headers apart where its headers join them", () => {
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

describe('threat A13: hexadecimal that decodes to the right bytes', () => {
  const tricked = Array.from(HASH, (digit) => String.fromCharCode(0x100 + digit.charCodeAt(0))).join('');

  test("threat A13: control: Node's decoder takes code points 256 above the digits for the digits", () => {
    expect(Buffer.from(tricked, 'hex').toString('hex')).toBe(HASH);
  });

  test('threat A13: in the header and, percent-encoded, in the query it is malformed', () => {
    expect(codeOf(verify(callbackData(), SIGNATURE.replace(HASH, tricked)))).toBe('signature_malformed');
    const query = QUERY.replace(HASH, encodeURIComponent(tricked));
    expect(codeOf(verifier.verifyRedirect(query))).toBe('signature_malformed');
  });
});

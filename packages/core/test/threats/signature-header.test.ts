import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import { readSignature } from '../../src/verify/signature.ts';
import { parsed, post } from '../incoming.ts';
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

// Headers that two parsers would read in two ways, and characters that look like digits.

describe('threat A11: a loose header grammar', () => {
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

  test('threat A11: a header is accepted exactly when it fits the grammar', () => {
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

  test('threat A11: the fast path of the parser agrees with the general grammar', () => {
    // A part with another name is ignored, and takes the header off the fast path.
    const general = (header: string) => readSignature(`${header},v=1`);
    const digits = (alphabet: string, minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
    const timestamp = fc.oneof(
      { weight: 3, arbitrary: digits('0123456789', 1, 24) },
      digits('0123456789-+.e\u0660 ', 1, 5),
    );
    const hash = fc.oneof(
      { weight: 3, arbitrary: digits('0123456789abcdef', 64, 64) },
      digits('0123456789abcdef', 63, 65),
      digits('0123456789abcdefAF\u0130', 64, 64),
    );
    const end = fc.constantFrom('', '', '', '\n', ' ', '\0', ',', '\u2028');
    const verdicts = { parsed: 0, malformed: 0 };
    fc.assert(
      fc.property(timestamp, hash, end, (t, s, rest) => {
        const header = `t=${t},s=${s}${rest}`;
        const result = readSignature(header);
        expect(result).toEqual(general(header));
        if (typeof result === 'object') expect(result).toEqual({ t, s });
        verdicts[typeof result === 'string' ? 'malformed' : 'parsed']++;
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(100);
  });

  test('threat A11: a valid header with one changed character verifies only if the change is in t', () => {
    fc.assert(
      fc.property(
        fc.nat(SIGNATURE.length - 1),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        (at, character) => {
          fc.pre(SIGNATURE[at] !== character);
          const changed = SIGNATURE.slice(0, at) + character + SIGNATURE.slice(at + 1);
          const result = verify(callbackData(), changed);
          // t is not signed.
          if (result.ok) expect(changed.endsWith(`,s=${HASH}`) && changed.startsWith('t=')).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('threat A12: repeated headers', () => {
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
  const statusOf = async (signature: string | string[]) =>
    (await receiveCallback(post(parsed(callbackData()), { 'hmac-signature': signature }), receiver)).reply
      ?.status;

  test('threat A12: repeated headers are refused, equal or not, in a list or joined', async () => {
    const forged = `t=1,s=${HASH_OF_EMPTY_KEY}`;
    expect(await statusOf(SIGNATURE)).toBe(200);
    for (const both of [
      [SIGNATURE, SIGNATURE],
      [forged, SIGNATURE],
      [SIGNATURE, forged],
      [SIGNATURE, ''],
      ['', SIGNATURE],
    ]) {
      expect(await statusOf(both)).toBe(401);
      expect(await statusOf(both.join(', '))).toBe(401);
      expect(await statusOf(both.join(','))).toBe(401);
    }
  });
});

describe('threat A13: decoding the hash', () => {
  const tricked = Array.from(HASH, (digit) => String.fromCharCode(0x100 + digit.charCodeAt(0))).join('');

  test("threat A13: control: Node's decoder accepts code points 256 above the digits as the digits", () => {
    expect(Buffer.from(tricked, 'hex').toString('hex')).toBe(HASH);
  });

  test('threat A13: such a hash is malformed in the header and, percent-encoded, in the query', () => {
    expect(codeOf(verify(callbackData(), SIGNATURE.replace(HASH, tricked)))).toBe('signature_malformed');
    const query = QUERY.replace(HASH, encodeURIComponent(tricked));
    expect(codeOf(verifier.verifyRedirect(query))).toBe('signature_malformed');
  });
});

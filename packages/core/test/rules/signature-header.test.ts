import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSignature } from '../../src/verify/signature.ts';
import { parsed, post, statusOf } from '../incoming.ts';
import { type Counted, operations } from '../operations.ts';
import { callbackData, HASH, HASH_OF_EMPTY_KEY, QUERY, SIGNATURE, T } from '../signed-callbacks.ts';
import { verdictOf, verifier } from '../verify.ts';

// Decision D6, in addition to the vectors of the contract: one t, one s of 64 lower-case digits, no white space, 256
// characters.

const verdictOn = (signature: string) =>
  verdictOf(verifier.verifyCallback({ signature, body: callbackData() }));

// A second reading of the rule, written as one regular expression: no code is shared with the parser.
const part = String.raw`(?!t=|s=)[^=,\s\p{Cc}]+=[^=,\s\p{Cc}]+`;
const t = String.raw`t=[^=,\s\p{Cc}]+`;
const s = 's=[0-9a-f]{64}';
const rest = `(?:${part},)*`;
const grammar = new RegExp(`^(?=.{1,256}$)${rest}(?:${t},${rest}${s}|${s},${rest}${t})(?:,${part})*$`, 'u');
const piece = fc.constantFrom(
  ...'t=1 s=1 v=1 T=1 S=1 t= s= = t s , x v=a=b t=now ts=1'.split(' '),
  ...['', ' ', '\t', '\0', 'v=a b', 'v =1', 'v=a\u0007'],
  ...[`s=${HASH}`, `t=${T}`, `S=${HASH}`, `s=${HASH.toUpperCase()}`, `s=${HASH}0`],
  ...[189, 190].map((length) => `v=${'x'.repeat(length - HASH.length - 2)}`),
);

test('the header that the service sends is read without being split, and one with another part is split once', () => {
  const split: Counted = [String.prototype, ['split']];
  const splits = (header: string): number => operations([split], () => readSignature(header));
  expect([SIGNATURE, `${SIGNATURE},v=1`].map(splits)).toEqual([0, 1]);
});

test('threat A11: a header is accepted exactly when it fits the grammar', () => {
  const verdicts = { accepted: 0, signature_malformed: 0 };
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 5 }),
      fc.shuffledSubarray([`t=${T}`, `s=${HASH}`]),
      (others, own) => {
        const header = others.concat(own).join(',');
        fc.pre(header !== '');
        const verdict = verdictOn(header);
        expect(verdict).toBe(grammar.test(header) ? 'accepted' : 'signature_malformed');
        verdicts[verdict as keyof typeof verdicts]++;
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
  const character = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(...'0123456789abcdef'),
  );
  fc.assert(
    fc.property(fc.nat(SIGNATURE.length - 1), character, (at, put) => {
      fc.pre(SIGNATURE[at] !== put);
      const changed = SIGNATURE.slice(0, at) + put + SIGNATURE.slice(at + 1);
      if (verdictOn(changed) === 'accepted')
        expect(changed.endsWith(`,s=${HASH}`) && changed.startsWith('t=')).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('threat A12: repeated headers are refused, equal or not, in a list or joined', async () => {
  const statusWith = (signature: string | string[]) =>
    statusOf(post(parsed(callbackData()), { 'hmac-signature': signature }));
  expect(await statusWith(SIGNATURE)).toBe(200);
  const forged = `t=1,s=${HASH_OF_EMPTY_KEY}`;
  for (const other of [SIGNATURE, forged, '']) {
    for (const both of [
      [SIGNATURE, other],
      [other, SIGNATURE],
    ]) {
      for (const sent of [both, both.join(', '), both.join(',')]) expect(await statusWith(sent)).toBe(401);
    }
  }
});

test("threat A13: a hash whose code points are 256 above the digits is malformed, although Node's decoder accepts it", () => {
  const tricked = Array.from(HASH, (digit) => String.fromCharCode(0x100 + digit.charCodeAt(0))).join('');
  expect(Buffer.from(tricked, 'hex').toString('hex')).toBe(HASH);
  expect(verdictOn(SIGNATURE.replace(HASH, tricked))).toBe('signature_malformed');
  const query = QUERY.replace(HASH, encodeURIComponent(tricked));
  expect(verdictOf(verifier.verifyRedirect(query))).toBe('signature_malformed');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSignature } from '../../src/verify/signature.ts';
import { HASH, T } from '../signed-callbacks.ts';

// Decision D6, in addition to the vectors of the contract: one t, one s of 64 lower-case digits, no white space, 256
// characters.

// A second reading of the rule, written as one regular expression: no code is shared with the parser.
const other = String.raw`(?!t=|s=)[^=,\s\p{Cc}]+=[^=,\s\p{Cc}]+`;
const t = String.raw`t=(?<t>[^=,\s\p{Cc}]+)`;
const s = 's=(?<s>[0-9a-f]{64})';
const rest = `(?:${other},)*`;
const grammar = new RegExp(`^(?=.{1,256}$)${rest}(?:${t},${rest}${s}|${s},${rest}${t})(?:,${other})*$`, 'u');

const digits = (alphabet: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
const HEX = '0123456789abcdef';
const usual = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: digits('0123456789', 1, 24) }, digits('0123456789-+.e\u0660 ', 1, 5)),
    fc.oneof(
      { weight: 3, arbitrary: digits(HEX, 64, 64) },
      digits(HEX, 63, 65),
      digits(`${HEX}AF\u0130`, 64, 64),
    ),
    fc.constantFrom('', '', '', '\n', ' ', '\0', ',', '\u2028'),
  )
  .map(([time, hash, end]) => `t=${time},s=${hash}${end}`);
const piece = fc.constantFrom(
  ...'t=1 s=1 v=1 T=1 S=1 t= s= = t s , x v=a=b t=now ts=1'.split(' '),
  ...['', ' ', '\t', '\0', 'v=a b', 'v =1', 'v=a\u0007'],
  ...[`s=${HASH}`, `t=${T}`, `S=${HASH}`, `s=${HASH.toUpperCase()}`, `s=${HASH}0`],
  ...[189, 190].map((length) => `v=${'x'.repeat(length - HASH.length - 2)}`),
);
const pieces = fc
  .tuple(fc.array(piece, { maxLength: 5 }), fc.shuffledSubarray([`t=${T}`, `s=${HASH}`]))
  .map(([others, own]) => others.concat(own).join(','));

test.each([
  ['that is usual', usual, 100],
  ['of any parts', pieces, 20],
])('threat A11: a header %s is read exactly when it fits the grammar', (_, headers, least) => {
  const counts = { read: 0, malformed: 0 };
  fc.assert(
    fc.property(headers, (header) => {
      fc.pre(header !== '');
      const groups = grammar.exec(header)?.groups;
      expect(readSignature(header)).toEqual(
        groups ? { t: groups['t'], s: groups['s'] } : 'signature_malformed',
      );
      counts[groups ? 'read' : 'malformed']++;
    }),
    { numRuns: 3000 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(least);
});

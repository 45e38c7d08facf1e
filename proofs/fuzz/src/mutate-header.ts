import { Buffer } from 'node:buffer';
import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { type Original, TIMES } from './originals.ts';

/** Text that no grammar, or only a lenient one, allows between, before or inside the parts of a header. */
const STRAY: readonly string[] = [
  ',',
  ...'= \t\0\u00a0\u0085\u2028\ufefftsv0fF;"\uff11',
  ...[', ', '\r\n', '%3D', 't=', 's=', 'v=1'],
];
const NO_HASH = `s=${'0'.repeat(64)}`;

export function header({ t, s }: Pick<Original, 't' | 's'>): string {
  return `t=${t},s=${s}`;
}

/** One edit of a signature header. */
export function mutateHeader(given: unknown, original: Original, random: SeededRandom): unknown {
  if (typeof given !== 'string') return header(original);
  const { s: hash, key, fields, subject } = original;
  const [t, s] = [`t=${original.t}`, `s=${hash}`];
  const at = hash.length > 0 ? random.between(0, hash.length - 1) : 0;
  const digit = hash[at] ?? '';
  const replaced = (by: string): string => `${t},s=${hash.slice(0, at)}${by}${hash.slice(at + 1)}`;
  const signing = (other: readonly string[], by = key): string =>
    `${t},s=${subject.second.digest(other, by)}`;
  const edits: readonly (() => unknown)[] = [
    () => replaced('0123456789abcdef'[random.between(0, 15)] ?? '0'),
    () => replaced(digit.toUpperCase()),
    () => replaced(String.fromCharCode(0x100 + digit.charCodeAt(0))),
    () => `${t},s=${hash.toUpperCase()}`,
    () => `${t},s=${hash.slice(0, random.between(0, 64))}`,
    () => `${t},${s}${random.pick(STRAY)}`,
    () => `${s},${t}`,
    () => `${given},${random.pick(['v=1', 'v=', 'v', '=1', 's2=abc', 'S=1', 'T=5', '__proto__=1', 'v=a=b'])}`,
    () => `${random.pick(['v=1', 'ts=5', 'sig=1', '', 'v'])},${given}`,
    () => `${given},${random.pick([t, s, 't=1', 's=0', 't=', 's=', NO_HASH])}`,
    () => `${random.pick([t, s, 't=1', NO_HASH])},${given}`,
    () => `${given}${random.pick([', ', ','])}${given}`,
    () => [given],
    () => [`t=1,${NO_HASH}`, given],
    () => random.pick([undefined, null, '', 5, true, {}, [], { t: original.t, s: hash }]),
    () => `t=${random.pick(TIMES)},${s}`,
    () => `t=${1_700_000_010 + random.between(-31, 31)},${s}`,
    () => `${given},v=${'x'.repeat(Math.max(1, 256 - given.length - 3 + random.between(-1, 1)))}`,
    () => `${t},s=${Buffer.from(hash, 'hex').toString('base64')}`,
    () => `${t},s=${hash.slice(1)}${hash[0] ?? ''}`,
    () =>
      key + 1 < (subject.options.signing_keys?.length ?? 1) ? signing(fields, key + 1) : `${t},${NO_HASH}`,
    () => signing(fields.toReversed()),
    () => signing([fields.join('|')]),
    () => signing([original.t, ...fields]),
  ];
  const edit = edits[random.between(0, edits.length + 3)];
  return edit === undefined ? spoil(given, random, STRAY) : edit();
}

/** One edit of a character: it is removed, replaced, swapped with the next one, or preceded by another. */
export function spoil(text: string, random: SeededRandom, stray: readonly string[]): string {
  const at = random.between(0, text.length);
  const [before, character, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)];
  const kind = random.between(0, 3);
  if (kind === 0) return before + after;
  if (kind === 1) return before + random.pick(stray) + after;
  if (kind === 2) return before + after.slice(0, 1) + character + after.slice(1);
  return before + random.pick(stray) + character + after;
}

import { Buffer } from 'node:buffer';
import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { TIMES } from './structure.ts';
import type { Subject } from './subject.ts';

/** Text that no grammar, or only a lenient one, allows between, before or inside the parts of a header. */
const IN_HEADERS: readonly string[] = [
  ...',= \t\0\u00a0\u0085\u2028\ufefftsv0fF;"\uff11',
  ...[', ', '\r\n', '%3D', 't=', 's=', 'v=1'],
];
const IN_JSON: readonly string[] = [
  ...'"\\{}[],: \n\t\u0000\u001f\u00a0\u2028\ufeff0-ex\'\u{1f600}',
  ...['\\u0065', '\\ud83d', '\\x41', '/**/', 'null', '"event":"x",'],
];
const IN_QUERIES: readonly string[] = [
  ...'&=%:+;?#[]é',
  ...['%ZZ', '%FF', '%C3%A9', '%c3', '%ED%A0%80', '%00', '%3A', '%2B', '%20', '[]', '%5B0%5D', '&event=x'],
];
const INVALID_UTF8: readonly number[][] = [
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0xc3, 0xa9],
];
const NO_HASH = `s=${'0'.repeat(64)}`;

/** What a genuine header is made of. */
export interface Signed {
  readonly subject: Subject;
  readonly key: number;
  readonly fields: readonly string[];
  readonly t: string;
  readonly s: string;
}

/** One edit of a genuine signature header. */
export function mutateHeader(genuine: string, signed: Signed, random: SeededRandom): unknown {
  const { s: hash, key, fields, subject } = signed;
  const [t, s] = [`t=${signed.t}`, `s=${hash}`];
  const at = random.between(0, 63);
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
    () => `${t},${s}${random.pick(IN_HEADERS)}`,
    () => `${s},${t}`,
    () =>
      `${genuine},${random.pick(['v=1', 'v=', 'v', '=1', 's2=abc', 'S=1', 'T=5', '__proto__=1', 'v=a=b'])}`,
    () => `${random.pick(['v=1', 'ts=5', 'sig=1', '', 'v'])},${genuine}`,
    () => `${genuine},${random.pick([t, s, 't=1', 's=0', 't=', 's=', NO_HASH])}`,
    () => `${random.pick([t, s, 't=1', NO_HASH])},${genuine}`,
    () => `${genuine}${random.pick([', ', ','])}${genuine}`,
    () => [genuine],
    () => [`t=1,${NO_HASH}`, genuine],
    () => random.pick([undefined, null, '', 5, true, {}, [], { t: signed.t, s: hash }]),
    () => `t=${random.pick(TIMES)},${s}`,
    () => `t=${1_700_000_010 + random.between(-31, 31)},${s}`,
    () => `${genuine},v=${'x'.repeat(Math.max(1, 256 - genuine.length - 3 + random.between(-1, 1)))}`,
    () => `${t},s=${Buffer.from(hash, 'hex').toString('base64')}`,
    () => `${t},s=${hash.slice(1)}${hash[0] ?? ''}`,
    () => signing(fields, (key + 1) % (subject.options.signing_keys?.length ?? 1)),
    () => signing(fields.toReversed()),
    () => signing([fields.join('|')]),
    () => signing([signed.t, ...fields]),
  ];
  const edit = edits[random.between(0, edits.length + 3)];
  return edit === undefined ? spoil(genuine, random, IN_HEADERS) : edit();
}

/** One edit of the characters of a body, or of its bytes. */
export function mutateBody(text: string, random: SeededRandom): string | Uint8Array {
  const at = random.between(0, text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const edits: readonly (() => string | Uint8Array)[] = [
    () => before,
    () => `\ufeff${random.next() < 0.5 ? text : `\ufeff${text}`}`,
    () => text + random.pick(IN_JSON),
    () => {
      const bytes = new TextEncoder().encode(text);
      bytes[random.between(0, bytes.length - 1)] = random.between(0x80, 0xff);
      return bytes;
    },
    () => Buffer.concat([Buffer.from(before), Buffer.from(random.pick(INVALID_UTF8)), Buffer.from(after)]),
    // A piece repeated, or left out.
    () => before + text.slice(random.between(0, text.length)),
  ];
  const edit = edits[random.between(0, 9)];
  return edit === undefined ? spoil(text, random, IN_JSON) : edit();
}

/** One edit of the characters of a query, or an address in front of it. */
export function mutateQuery(query: string, random: SeededRandom): string {
  if (random.next() < 0.3)
    return random.pick(['?', '/paid?', 'https://shop.example/a?', '??', '/', 'x?']) + query;
  return spoil(query, random, IN_QUERIES);
}

/** One edit of a character: it is removed, replaced, swapped with the next one, or preceded by another. */
function spoil(text: string, random: SeededRandom, stray: readonly string[]): string {
  const at = random.between(0, text.length);
  const [before, character, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)];
  const kind = random.between(0, 3);
  if (kind === 0) return before + after;
  if (kind === 1) return before + random.pick(stray) + after;
  if (kind === 2) return before + after.slice(0, 1) + character + after.slice(1);
  return before + random.pick(stray) + character + after;
}

import { Buffer } from 'node:buffer';
import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';
import type { Subject } from './subject.ts';

export const TIMES: readonly string[] = [
  ...['0', 'now', '-5', '0x10', '1e3', '1700000010.5', '99999999999', '100000000000', '0001700000010'],
  ...['9'.repeat(40), '\u0661\u0667', 'NaN'],
];
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
const INVALID_UTF8: readonly string[] = ['c0af', 'eda080', 'f4908080', 'e282', 'c3'];
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
export function mutateHeader(signed: Signed, random: SeededRandom): unknown {
  const { s: hash, key, fields, subject } = signed;
  const [t, s] = [`t=${signed.t}`, `s=${hash}`];
  const genuine = `${t},${s}`;
  const at = random.between(0, 63);
  const digit = hash[at] ?? '';
  const replaced = (by: string): string => `${t},s=${hash.slice(0, at)}${by}${hash.slice(at + 1)}`;
  const part = random.pick([t, s, 't=1', 's=0', 't=', 's=', NO_HASH]);
  const other = random.pick(['v=1', 'v=', 'v', '=1', 's2=abc', 'S=1', 'T=5', '__proto__=1', 'v=a=b', '']);
  const padding = 'x'.repeat(Math.max(1, 253 - genuine.length + random.between(-1, 1)));
  const otherKey = (key + 1) % (subject.options.signing_keys?.length ?? 1);
  const edits: readonly (() => unknown)[] = [
    () => replaced('0123456789abcdef'[random.between(0, 15)] ?? '0'),
    () => replaced(digit.toUpperCase()),
    () => replaced(String.fromCharCode(0x100 + digit.charCodeAt(0))),
    () => `${t},s=${hash.toUpperCase()}`,
    () => `${t},s=${hash.slice(0, at)}`,
    () => `${t},s=${hash.slice(1)}${hash[0] ?? ''}`,
    () => `${t},s=${Buffer.from(hash, 'hex').toString('base64')}`,
    () => genuine + random.pick(IN_HEADERS),
    () => `${s},${t}`,
    () => `${genuine},${other}`,
    () => `${other},${genuine}`,
    () => `${genuine},${part}`,
    () => `${part},${genuine}`,
    () => `${genuine}${random.pick([', ', ','])}${genuine}`,
    () => `${genuine},v=${padding}`,
    () => random.pick([[genuine], [`t=1,${NO_HASH}`, genuine], { t: signed.t, s: hash }]),
    () => random.pick([undefined, null, '', 5, true, {}, []]),
    () => `t=${random.pick(TIMES)},${s}`,
    () => `t=${1_700_000_010 + random.between(-31, 31)},${s}`,
    () => `${t},s=${subject.second.digest(fields, otherKey)}`,
    () => `${t},s=${subject.second.digest([signed.t, ...fields], key)}`,
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
    () =>
      Buffer.concat([Buffer.from(before), Buffer.from(random.pick(INVALID_UTF8), 'hex'), Buffer.from(after)]),
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

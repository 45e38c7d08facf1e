import { Buffer } from 'node:buffer';
import type { SeededRandom } from '../history/seeded-random.ts';
import { type Original, TIMES } from './originals.ts';

/** What belongs between, before or inside the parts of a header in no grammar, or in a lenient one only. */
const STRAY: readonly [string, ...string[]] = [
  ',',
  '=',
  ' ',
  ', ',
  '\t',
  '\r\n',
  '\0',
  '\u00a0',
  '\u0085',
  '\u2028',
  '\ufeff',
  't',
  's',
  'v',
  '0',
  'f',
  'F',
  ';',
  '"',
  '%3D',
  '\uff11',
  't=',
  's=',
  'v=1',
];

export function header({ t, s }: Pick<Original, 't' | 's'>): string {
  return `t=${t},s=${s}`;
}

/** One edit of a signature header. */
export function mutateHeader(given: unknown, original: Original, random: SeededRandom): unknown {
  if (typeof given !== 'string') return header(original);
  const [t, s] = [`t=${original.t}`, `s=${original.s}`];
  const digit = original.s.length > 0 ? random.between(0, original.s.length - 1) : 0;
  switch (random.between(0, 27)) {
    case 0:
      return `${t},s=${replaced(original.s, digit, '0123456789abcdef'[random.between(0, 15)] ?? '0')}`;
    case 1:
      return `${t},s=${replaced(original.s, digit, (original.s[digit] ?? '').toUpperCase())}`;
    case 2:
      return `${t},s=${replaced(original.s, digit, String.fromCharCode(0x100 + original.s.charCodeAt(digit)))}`;
    case 3:
      return `${t},s=${original.s.toUpperCase()}`;
    case 4:
      return `${t},s=${original.s.slice(0, random.between(0, 64))}`;
    case 5:
      return `${t},s=${original.s}${random.pick(STRAY)}`;
    case 6:
      return `${s},${t}`;
    case 7:
      return `${given},${random.pick(['v=1', 'v=', 'v', '=1', 's2=abc', 'S=1', 'T=5', '__proto__=1', 'v=a=b'])}`;
    case 8:
      return `${random.pick(['v=1', 'ts=5', 'sig=1', '', 'v'])},${given}`;
    case 9:
      return `${given},${random.pick([t, s, 't=1', 's=0', 't=', 's=', `s=${'0'.repeat(64)}`])}`;
    case 10:
      return `${random.pick([t, s, 't=1', `s=${'0'.repeat(64)}`])},${given}`;
    case 11:
      return `${given}${random.pick([', ', ','])}${given}`;
    case 12:
      return [given];
    case 13:
      return [`t=1,s=${'0'.repeat(64)}`, given];
    case 14:
      return random.pick([undefined, null, '', 5, true, {}, [], { t: original.t, s: original.s }]);
    case 15:
      return `t=${random.pick(TIMES)},${s}`;
    case 16:
      return `t=${1_700_000_010 + random.between(-31, 31)},${s}`;
    case 17:
      return `${given},v=${'x'.repeat(Math.max(1, 256 - given.length - 3 + random.between(-1, 1)))}`;
    case 18:
      return `${t},s=${Buffer.from(original.s, 'hex').toString('base64')}`;
    case 19:
      return `${t},s=${original.s.slice(1)}${original.s[0] ?? ''}`;
    case 20: {
      const other = original.key + 1;
      const hasOther = other < (original.subject.options.signing_keys?.length ?? 1);
      return `${t},s=${hasOther ? original.subject.second.digest(original.fields, other) : '0'.repeat(64)}`;
    }
    case 21:
      return `${t},s=${original.subject.second.digest(original.fields.toReversed(), original.key)}`;
    case 22:
      return `${t},s=${original.subject.second.digest([original.fields.join('|')], original.key)}`;
    case 23:
      return `${t},s=${original.subject.second.digest([original.t, ...original.fields], original.key)}`;
    default:
      return spoil(given, random, STRAY);
  }
}

/** One edit of a character. */
export function spoil(text: string, random: SeededRandom, stray: readonly [string, ...string[]]): string {
  const at = random.between(0, text.length);
  switch (random.between(0, 3)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + random.pick(stray) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2);
    default:
      return text.slice(0, at) + random.pick(stray) + text.slice(at);
  }
}

function replaced(text: string, at: number, character: string): string {
  return text.slice(0, at) + character + text.slice(at + 1);
}

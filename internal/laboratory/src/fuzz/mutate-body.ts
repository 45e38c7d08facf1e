import { Buffer } from 'node:buffer';
import type { SeededRandom } from '../history/seeded-random.ts';
import { spoil } from './mutate-header.ts';
import { type Original, odd } from './originals.ts';
import { NAMES } from './second-verifier.ts';

/** The members of a callback as JSON, of which `PAYLOAD` is the place of the payload among the outer ones. */
export interface Model {
  readonly outer: readonly string[];
  readonly payload: readonly string[];
}

const PAYLOAD = '';
const EXTRA: readonly [string, ...string[]] = [
  '"id":1001',
  '"transaction_amount":500',
  '"transaction_amount":5e2',
  '"request_amount":-0.50',
  '"customer_name":"A\\u0000B"',
  '"customer_name":"\\",\\"event\\":\\"x"',
  '"customer_name":"\\ud800"',
  '"customer":{"event":"a","event":"b","payload":{"merchant_reference":"x"}}',
  '"items":[{"merchant_reference":"1"},[],{},{"event":[]}]',
  '"__proto__":{"event":"x","merchant_reference":"x"}',
  '"constructor":{"prototype":{"ok":true}}',
  '"toString":1',
  '"":null',
  '"Event":"x"',
  '"payloads":{"merchant_reference":"x"}',
  '"hmac_signature":"t=1,s=2"',
  '"x":1e400',
  '"x":[[[[[[]]]]]]',
  '"event ":"x"',
];
const VALUES: readonly [string, ...string[]] = [
  'null',
  'true',
  '1001',
  '0',
  '-0',
  '1.50',
  '{}',
  '[]',
  '[null]',
  '12345678901234567891',
  '{"toString":"x"}',
];
const STRAY: readonly [string, ...string[]] = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ' ',
  '\n',
  '\t',
  '\u0000',
  '\u001f',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '0',
  '-',
  'e',
  'x',
  '\\u0065',
  '\\ud83d',
  '\\x41',
  '\u{1f600}',
  '/**/',
  "'",
  'null',
  '"event":"x",',
];

export function model({ fields }: Pick<Original, 'fields'>, random: SeededRandom): Model {
  const [event = '', ...inner] = fields;
  const payload = inner.map((value, index) => member(NAMES[index + 1] ?? '', value));
  const outer = [member('event', event), PAYLOAD];
  if (random.next() < 0.5) payload.splice(random.between(0, 4), 0, random.pick(EXTRA));
  if (random.next() < 0.2) outer.reverse();
  return { outer, payload };
}

export function render({ outer, payload }: Model): string {
  return `{${outer.map((one) => (one === PAYLOAD ? `"payload":{${payload.join()}}` : one)).join()}}`;
}

/** One edit of the members. */
export function mutateModel(given: Model, { fields }: Original, random: SeededRandom): Model {
  const outer = [...given.outer];
  const payload = [...given.payload];
  const index = random.between(0, NAMES.length - 1);
  const name = NAMES[index] ?? 'event';
  const value = fields[index] ?? '';
  const members = index === 0 ? outer : payload;
  const at = members.findIndex((one) => one.startsWith(`"${name}"`));
  const put = (text: string): void => {
    if (at >= 0) members[at] = text;
    else members.push(text);
  };
  const add = (text: string, to = members): void => {
    to.splice(random.between(0, to.length), 0, text);
  };
  switch (random.between(0, 21)) {
    case 0:
      put(member(name, spoil(value, random, STRAY)));
      break;
    case 1:
      if (at >= 0) members.splice(at, 1);
      break;
    case 2:
      add(member(name, random.next() < 0.3 ? value : odd(random)));
      break;
    case 3:
      add(`"${escaped(name, random)}":${JSON.stringify(random.next() < 0.5 ? value : 'OTHER')}`);
      break;
    case 4:
      put(`"${escaped(name, random)}":${JSON.stringify(value)}`);
      break;
    case 5:
      put(`"${name}":${random.next() < 0.3 ? JSON.stringify([value]) : random.pick(VALUES)}`);
      break;
    case 6:
      add(`"${name}":${random.pick(VALUES)}`);
      break;
    case 7:
      members.reverse();
      break;
    case 8:
    case 9:
      add(random.pick(EXTRA), random.next() < 0.5 ? outer : payload);
      break;
    case 10:
      put(`"${name}":"${escaped(value.replace(/["\\\p{Cc}]/gu, ''), random)}"`);
      break;
    case 11: // The ':' shift: the same signed string, cut elsewhere.
      return shifted(given, fields, random);
    case 12:
      add(member(name, value), index === 0 ? payload : outer);
      break;
    case 13:
      add(
        `"payload":${random.pick(['null', '{}', '[]', `{${payload.join()}}`, '{"merchant_reference":"x"}'])}`,
        outer,
      );
      break;
    case 14: {
      const joined = payload.join();
      const instead = random.pick([
        'null',
        '1',
        '""',
        '[]',
        `[{${joined}}]`,
        '{}',
        JSON.stringify(`{${joined}}`),
      ]);
      const place = outer.indexOf(PAYLOAD);
      if (place >= 0) outer[place] = `"payload":${instead}`;
      break;
    }
    case 15:
      put(`"${name}":"${random.pick(['\\ud800', '\\udfff', '\\ud83d\\ude00', '\\ude00\\ud83d', '\ufffd'])}"`);
      break;
    case 16:
      put(` "${name}" \n:\t${JSON.stringify(value)} `);
      break;
    case 17:
      put(member(name, value.normalize(random.pick(['NFC', 'NFD']))));
      break;
    case 18:
      put(member(name, fields[random.between(0, 4)] ?? ''));
      break;
    case 19: {
      const depth = random.between(1, 40);
      add(`"deep":${'{"event":['.repeat(depth)}1${']}'.repeat(depth)}`);
      break;
    }
    case 20:
      put(
        member(
          random.pick([` ${name}`, `${name}\0`, `\ufeff${name}`, name.toUpperCase(), '__proto__']),
          value,
        ),
      );
      break;
    default:
      put(member(name, odd(random)));
  }
  return { outer, payload };
}

function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

function escaped(text: string, random: SeededRandom): string {
  if (text === '') return text;
  const at = random.between(0, text.length - 1);
  const code = text.charCodeAt(at).toString(16).padStart(4, '0');
  return `${text.slice(0, at)}\\u${random.next() < 0.5 ? code : code.toUpperCase()}${text.slice(at + 1)}`;
}

function shifted(given: Model, fields: readonly string[], random: SeededRandom): Model {
  const pieces = fields.join(':').split(':');
  if (pieces.length === 5) pieces.splice(random.between(1, 4), 0, 'x');
  const cuts = new Set<number>();
  while (cuts.size < 4) cuts.add(random.between(1, pieces.length - 1));
  const bounds = [0, ...[...cuts].sort((a, b) => a - b), pieces.length];
  const again = NAMES.map((_, index) => pieces.slice(bounds[index], bounds[index + 1]).join(':'));
  const rest = given.payload.filter((one) => !NAMES.some((name) => one.startsWith(`"${name}"`)));
  const [event = '', ...inner] = again;
  const payload = inner.map((value, index) => member(NAMES[index + 1] ?? '', value));
  return { outer: [member('event', event), PAYLOAD], payload: [...payload, ...rest] };
}

/** One edit of the characters, or of the bytes. */
export function mutateText(text: string, random: SeededRandom): string | Uint8Array {
  switch (random.between(0, 9)) {
    case 0:
      return text.slice(0, random.between(0, text.length));
    case 1:
      return `\ufeff${random.next() < 0.5 ? text : `\ufeff${text}`}`;
    case 2:
      return text + random.pick(STRAY);
    case 3: {
      const bytes = new TextEncoder().encode(text);
      bytes[random.between(0, bytes.length - 1)] = random.between(0x80, 0xff);
      return bytes;
    }
    case 4: {
      const at = random.between(0, text.length);
      const bytes = random.pick([
        [0xc0, 0xaf],
        [0xed, 0xa0, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
        [0xe2, 0x82],
        [0xc3, 0xa9],
      ]);
      return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at))]);
    }
    case 5: {
      const [from, to] = [random.between(0, text.length), random.between(0, text.length)].sort(
        (a, b) => a - b,
      );
      return text.slice(0, to) + text.slice(from);
    }
    default:
      return spoil(text, random, STRAY);
  }
}

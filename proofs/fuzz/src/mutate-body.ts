import { Buffer } from 'node:buffer';
import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { spoil } from './mutate-header.ts';
import { type Original, odd } from './originals.ts';
import { NAMES } from './second-verifier.ts';

/** The members of a callback as JSON. `PAYLOAD` marks the place of the payload among the outer ones. */
export interface Model {
  readonly outer: readonly string[];
  readonly payload: readonly string[];
}

const PAYLOAD = '';
const EXTRA: readonly string[] = [
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
/** With one of these, core reads a body differently. */
const LONG: readonly string[] = [
  `"${'e'.repeat(4100)}"`,
  ...['\\"', '\\\\', '\\u0065', '\\",\\"event\\":'].map((unit) => `"${unit.repeat(2050)}"`),
  ...[' ', '123456789,', '"event",', '{"event":"payload"},'].map(
    (unit) => `[${unit.repeat(4100 / unit.length)}1]`,
  ),
];
const VALUES: readonly string[] = [
  'null',
  ...['true', '1001', '0', '-0', '1.50', '{}', '[]', '[null]', '12345678901234567891', '{"toString":"x"}'],
];
const STRAY: readonly string[] = [
  '"',
  ..."\\{}[],: \n\t\u0000\u001f\u00a0\u2028\ufeff0-ex'\u{1f600}",
  ...['\\u0065', '\\ud83d', '\\x41', '/**/', 'null', '"event":"x",'],
];
const SURROGATES: readonly string[] = [
  '\\ud800',
  ...['\\udfff', '\\ud83d\\ude00', '\\ude00\\ud83d', '\ufffd'],
];
const INVALID_UTF8: readonly number[][] = [
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0xc3, 0xa9],
];

export function model({ fields }: Pick<Original, 'fields'>, random: SeededRandom): Model {
  const [event = '', ...inner] = fields;
  const payload = inner.map((value, index) => member(NAMES[index + 1] ?? '', value));
  const outer = [member('event', event), PAYLOAD];
  if (random.next() < 0.5) payload.splice(random.between(0, 4), 0, random.pick(EXTRA));
  if (random.next() < 0.02) (random.next() < 0.5 ? outer : payload).push(`"long":${random.pick(LONG)}`);
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
  const joined = `{${payload.join()}}`;
  const extra = (): void => add(random.pick(EXTRA), random.next() < 0.5 ? outer : payload);
  const edits: readonly (() => unknown)[] = [
    () => put(member(name, spoil(value, random, STRAY))),
    () => at >= 0 && members.splice(at, 1),
    () => add(member(name, random.next() < 0.3 ? value : odd(random))),
    () => add(`"${escaped(name, random)}":${JSON.stringify(random.next() < 0.5 ? value : 'OTHER')}`),
    () => put(`"${escaped(name, random)}":${JSON.stringify(value)}`),
    () => put(`"${name}":${random.next() < 0.3 ? JSON.stringify([value]) : random.pick(VALUES)}`),
    () => add(`"${name}":${random.pick(VALUES)}`),
    () => members.reverse(),
    extra,
    extra,
    () => put(`"${name}":"${escaped(value.replace(/["\\\p{Cc}]/gu, ''), random)}"`),
    () => add(member(name, value), index === 0 ? payload : outer),
    () => add(`"payload":${random.pick(['null', '{}', '[]', joined, '{"merchant_reference":"x"}'])}`, outer),
    () => {
      const instead = random.pick(['null', '1', '""', '[]', `[${joined}]`, '{}', JSON.stringify(joined)]);
      const place = outer.indexOf(PAYLOAD);
      if (place >= 0) outer[place] = `"payload":${instead}`;
    },
    () => put(`"${name}":"${random.pick(SURROGATES)}"`),
    () => put(` "${name}" \n:\t${JSON.stringify(value)} `),
    () => put(member(name, value.normalize(random.pick(['NFC', 'NFD'])))),
    () => put(member(name, fields[random.between(0, 4)] ?? '')),
    () => {
      const depth = random.between(1, 40);
      add(`"deep":${'{"event":['.repeat(depth)}1${']}'.repeat(depth)}`);
    },
    () => {
      const names = [` ${name}`, `${name}\0`, `\ufeff${name}`, name.toUpperCase(), '__proto__'] as const;
      put(member(random.pick(names), value));
    },
    () => put(member(name, odd(random))),
  ];
  const edit = edits[random.between(0, edits.length)];
  // The ':' shift: the same signed string, split elsewhere.
  if (edit === undefined) return shifted(given, fields, random);
  edit();
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
  const at = random.between(0, text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const edits: readonly (() => string | Uint8Array)[] = [
    () => before,
    () => `\ufeff${random.next() < 0.5 ? text : `\ufeff${text}`}`,
    () => text + random.pick(STRAY),
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
  return edit === undefined ? spoil(text, random, STRAY) : edit();
}

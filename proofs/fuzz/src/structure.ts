import fc from 'fast-check';
import { NAMES } from './second-verifier.ts';

/** A member of a body or a pair of a query: its name and value, plain and as written. */
interface Member {
  readonly name: string;
  readonly value: string;
  readonly written: string;
}

/** How a channel writes, and what only it can have. */
interface Writing {
  readonly last: 'payload' | 'hmac_signature';
  readonly quote: (text: string) => string;
  /** @param code the number of a character, in hexadecimal. */
  readonly escape: (code: string) => string;
  readonly join: (name: string, value: string) => string;
  /** Values that are not strings, or that no string is written as. */
  readonly values: readonly string[];
  readonly extra: readonly string[];
}

const JSON_TEXT: Writing = {
  last: 'payload',
  quote: (text) => JSON.stringify(text),
  escape: (code) => `\\u${code.padStart(4, '0')}`,
  join: (name, value) => `${name}:${value}`,
  values: [
    ...['null', 'true', '1001', '0', '-0', '1.50', '12345678901234567891', '{}', '[]', '[null]'],
    ...['{"toString":"x"}', '{"merchant_reference":"x"}', '"\\ud800"', '"\\udfff"', '"\\ud83d\\ude00"'],
    ...['"\\ude00\\ud83d"', '"\ufffd"', '""', `${'{"event":['.repeat(40)}1${']}'.repeat(40)}`],
  ],
  extra: [
    ...['"id":1001', '"transaction_amount":5e2', '"request_amount":-0.50', '"x":1e400', '"":null'],
    ...['"customer_name":"A\\u0000B"', '"customer_name":"\\",\\"event\\":\\"x"', '"customer_name":"\\ud800"'],
    '"customer":{"event":"a","event":"b","payload":{"merchant_reference":"x"}}',
    '"items":[{"merchant_reference":"1"},[],{},{"event":[]}]',
    '"__proto__":{"event":"x","merchant_reference":"x"}',
    ...['"constructor":{"prototype":{"ok":true}}', '"toString":1', '"hmac_signature":"t=1,s=2"'],
    ...['"Event":"x"', '"event ":"x"', '"payloads":{"merchant_reference":"x"}', '"x":[[[[[[]]]]]]'],
  ],
};
/** With one of these, core reads a body differently. */
const LONG: readonly string[] = [
  ...['e', '\\"', '\\\\', '\\u0065', '\\",\\"event\\":'].map((unit) => `"long":"${unit.repeat(2050)}"`),
  ...[' ', '123456789,', '"event",', '{"event":"payload"},'].map(
    (unit) => `"long":[${unit.repeat(4100 / unit.length)}1]`,
  ),
];
const QUERY_TEXT: Writing = {
  last: 'hmac_signature',
  quote: (text) => encodeURIComponent(text.toWellFormed()).replaceAll('%5B', '[').replaceAll('%5D', ']'),
  escape: (code) => `%${code}`,
  join: (name, value) => `${name}=${value}`,
  values: [
    '',
    '%',
    '%ZZ',
    '%FF',
    '%C3%A9',
    '%c3',
    '%ED%A0%80',
    '%00',
    '+',
    '%2B',
    '%20',
    'é',
    '#',
    '=',
    '&event=x',
  ],
  extra: [
    ...['utm=1', 'flag', '', 'id=7', 'transaction_amount=500', 'transaction_amount[]=5', 'tag[]=1'],
    ...[
      'payload[transaction_amount]=5',
      'payload[channel]=ussd',
      'payload[event]=x',
      'payload[hmac_signature]=x',
    ],
    ...[
      '__proto__=x',
      '__proto__[event]=x',
      'events=1',
      'xevent=2',
      'event.x=3',
      'Event=x',
      'hmac-signature=x',
    ],
    ...[120, 121, 122, 123].map((count) => 'p=1&'.repeat(count)),
  ],
};

/** Strings that have confused verifiers before. */
const ODD: readonly string[] = [
  ...['', ' ', ':', 'a:b', 'undefined', 'null', 'true', '1001', '[object Object]', 't=1,s=2', 'ORD%3A1'],
  ...['A+B&event=x', 'Cafe\u0301', 'Caf\u00e9', '\ufffd', '\ufeffORD', '\u0000', '\u001b[2J', '"\\/\''],
  ...['\u{1f600}', '\uff1a', 'x'.repeat(300)],
];
const oneOf = <T>(items: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...items);
const text = fc.oneof(
  { weight: 6, arbitrary: oneOf(ODD) },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);
const mostly = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
const tail = mostly(9, fc.constant(''), oneOf([':7', ':', ':a:b']));
const reference = (prefix: string): fc.Arbitrary<string> =>
  fc.tuple(fc.nat(99_999), tail).map(([number, more]) => `${prefix}-${number}${more}`);

export const TIMES: readonly string[] = [
  ...['0', 'now', '-5', '0x10', '1e3', '1700000010.5', '99999999999', '100000000000', '0001700000010'],
  ...['9'.repeat(40), '\u0661\u0667', 'NaN'],
];
const time = fc.oneof(
  { weight: 7, arbitrary: fc.constant('1700000010') },
  { weight: 1, arbitrary: fc.integer({ min: 1_699_999_970_000, max: 1_700_000_050_000 }).map(String) },
  { weight: 1, arbitrary: fc.integer({ min: 1_699_999_970, max: 1_700_000_050 }).map(String) },
  { weight: 1, arbitrary: oneOf(TIMES) },
);

/** What an edit writes for a member: the same, something like it, or something else. */
type Rewritten = (member: Member, writing: Writing, others: readonly string[]) => string;
const name: fc.Arbitrary<Rewritten> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Rewritten>((own, { quote }) => quote(own.name)) },
  {
    weight: 3,
    arbitrary: fc.nat().map(
      (at) =>
        ({ name }, writing) =>
          escapedAt(name, at, writing),
    ),
  },
  {
    weight: 3,
    arbitrary: oneOf<(name: string) => string>([
      ...[' ', '\0', '[]', '[x]', '[0]', '.x'].map((more) => (own: string) => own + more),
      ...[' ', '\ufeff'].map((more) => (own: string) => more + own),
      (own) => `payload[${own}]`,
      (own) => own.replace(/^payload\[(.*)\]$/, '$1'),
      (own) => own.toUpperCase(),
      () => '__proto__',
    ]).map(
      (change) =>
        (own, { quote }) =>
          quote(change(own.name)),
    ),
  },
  {
    weight: 1,
    arbitrary: text.map(
      (other) =>
        (_, { quote }) =>
          quote(other),
    ),
  },
);
const value: fc.Arbitrary<Rewritten> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Rewritten>(({ written }) => written) },
  { weight: 2, arbitrary: fc.nat().map((at) => (own, writing) => escapedAt(own.value, at, writing)) },
  {
    weight: 3,
    arbitrary: text.map(
      (other) =>
        (_, { quote }) =>
          quote(other),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(4).map(
      (at) =>
        (_, { quote }, others) =>
          quote(others[at] ?? ''),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat().map(
      (at) =>
        (_, { values }) =>
          values[at % values.length] ?? '',
    ),
  },
  {
    weight: 2,
    arbitrary: oneOf<Rewritten>([
      ({ written }) => ` ${written} \n`,
      ({ written }) => `[${written}]`,
      ({ value }, { quote }) => quote(value.normalize('NFD')),
      ({ value }, { quote }) => quote(value.normalize('NFC')),
      ({ value }, { quote }) => quote(value),
      ({ written }) => written.replaceAll('%20', '+'),
      ({ written }) => written.replaceAll('%', '%25'),
    ]),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((json) => () => JSON.stringify(json)) },
);

/** The text with one character escaped that need not be. */
function escapedAt(given: string, at: number, { quote, escape }: Writing): string {
  const plain = given.replace(/[^!#-[\]-~]/g, '') || 'x';
  const place = at % plain.length;
  const code = plain.charCodeAt(place).toString(16);
  const written = escape(at % 7 < 3 ? code.toUpperCase() : code);
  // A NUL in its place, which both channels must quote.
  return quote(`${plain.slice(0, place)}\0${plain.slice(place + 1)}`).replace(/\\u0000|%00/, written);
}

/** One change of the members. */
const edit = fc.record({
  verb: fc.oneof(
    { weight: 8, arbitrary: fc.constant('replace' as const) },
    { weight: 5, arbitrary: oneOf(['add', 'add', 'remove', 'extra', 'extra'] as const) },
  ),
  /** Which of the five fields; the sixth is the payload, or the signature of a redirect. */
  which: fc.nat(5),
  at: fc.nat(),
  /** Whether a member of the payload is added beside it, or the reverse. */
  isElsewhere: mostly(5, fc.constant(false), fc.constant(true)),
  name,
  value,
});
export type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** A callback or redirect as the service signs it, and edits of it. fast-check makes it, and shrinks it if a verdict is wrong. */
export const structure = fc.record({
  /** The index of its subject. The first one has the default rules, which most merchants have. */
  subject: mostly(3, fc.nat(), fc.constant(0)),
  key: fc.nat(),
  channel: mostly(4, fc.constant('callback' as const), fc.constant('redirect' as const)),
  fields: fc.tuple(
    mostly(5, fc.constant('transaction.completed'), text),
    mostly(5, reference('ORD'), text),
    mostly(9, reference('INT'), text),
    mostly(9, fc.constant('COLLECTION'), text),
    mostly(9, fc.constant('COMPLETED'), text),
  ),
  t: time,
  /** Harmless, or so the service says. */
  extra: fc.option(fc.nat()),
  long: mostly(50, fc.constant(undefined), oneOf(LONG)),
  isReversed: mostly(4, fc.constant(false), fc.constant(true)),
  isNested: mostly(2, fc.constant(false), fc.constant(true)),
  expects: mostly(4, fc.constant(undefined), oneOf(['', ' ', 'same'])),
  edits: fc.array(edit, { maxLength: 16, size: 'max' }),
  /** The parts of one more header. */
  parts: fc.array(fc.oneof(oneOf(['t', 's', 'v=1', '']), text), { maxLength: 4 }),
  /** For the edits of headers and characters. */
  seed: fc.noShrink(fc.nat()),
});
export type Structure = typeof structure extends fc.Arbitrary<infer T> ? T : never;

/** The body of a callback as JSON, or the query of a redirect with its signature, after edits. */
export function write(given: Structure, edits: readonly Edit[], signature: string): string {
  const { channel, fields, extra, long, isReversed, isNested } = given;
  const isBody = channel === 'callback';
  const writing = isBody ? JSON_TEXT : QUERY_TEXT;
  const { quote, join, last } = writing;
  const names = [...NAMES.map((one, at) => (isNested && !isBody && at > 0 ? `payload[${one}]` : one)), last];
  const own = names.map((name, at): Member => {
    const value = fields[at] ?? signature;
    return { name, value, written: quote(value) };
  });
  const genuine = own.map(({ name, written }) => join(isBody ? quote(name) : name, written));
  const [inner, rest] = [genuine.slice(1, 5), [genuine[0] ?? '', genuine[5] ?? '']];
  if (extra !== null) inner.splice(extra % 5, 0, writing.extra[extra % 16] ?? '');
  if (isBody && long !== undefined) inner.push(long);
  const outer = isBody ? rest : [...inner, ...rest];
  const holder = isBody ? inner : outer;
  if (isReversed) outer.reverse();
  for (const { verb, which, at, isElsewhere, ...to } of edits) {
    const members = (which === 0 || which === 5) === isElsewhere ? holder : outer;
    const place = members.indexOf(genuine[which] ?? '');
    const payload = `{${inner.join()}}`;
    const member = own[which] as Member;
    const whole = isBody && which === 5 ? { ...member, value: payload, written: payload } : member;
    const changed = join(to.name(whole, writing, fields), to.value(whole, writing, fields));
    const added = verb === 'extra' ? (writing.extra[at % writing.extra.length] ?? '') : changed;
    const isAdded = verb === 'add' || verb === 'extra' || place < 0;
    members.splice(
      isAdded ? at % (members.length + 1) : place,
      isAdded ? 0 : 1,
      ...(verb === 'remove' ? [] : [added]),
    );
  }
  if (!isBody) return outer.join('&');
  return `{${outer.map((one) => (one === genuine[5] ? `"payload":{${inner.join()}}` : one)).join()}}`;
}

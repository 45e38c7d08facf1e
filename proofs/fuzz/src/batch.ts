import { seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import fc from 'fast-check';
import { mutateBody, mutateHeader, mutateQuery, TIMES } from './mutate.ts';
import { NAMES } from './second-verifier.ts';
import type { Input, Subject } from './subject.ts';
import { escapedAt, JSON_TEXT, type Member, QUERY_TEXT, type Rewritten } from './writing.ts';

/** Strings that have confused verifiers before. */
const ODD: readonly string[] = [
  ...['', ' ', ':', 'a:b', 'undefined', 'null', 'true', '1001', '[object Object]', 't=1,s=2', 'ORD%3A1'],
  ...['A+B&event=x', 'Cafe\u0301', 'Caf\u00e9', '\ufffd', '\ufeffORD', '\u0000', '\u001b[2J', '"\\/\''],
  ...['\u{1f600}', '\uff1a', 'x'.repeat(300)],
];
const oneOf = <T>(items: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...items);
const weighted = <T>(...choices: (readonly [weight: number, one: fc.Arbitrary<T>])[]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const mostly = <T>(weight: number, usual: T | fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  weighted([weight, usual instanceof fc.Arbitrary ? usual : fc.constant(usual)], [1, other]);

const text = weighted(
  [6, oneOf(ODD)],
  [1, fc.string({ maxLength: 12 })],
  [1, fc.string({ unit: 'binary', maxLength: 12 })],
);
const tail = mostly(9, '', oneOf([':7', ':', ':a:b']));
const reference = (prefix: string): fc.Arbitrary<string> =>
  fc.tuple(fc.nat(99_999), tail).map(([number, more]) => `${prefix}-${number}${more}`);

const near = (time: number, range: number): fc.Arbitrary<string> =>
  fc.integer({ min: time - range, max: time + range }).map(String);
const time = weighted(
  [7, fc.constant('1700000010')],
  [1, near(1_700_000_010_000, 40_000)],
  [1, near(1_700_000_010, 40)],
  [1, oneOf(TIMES)],
);

/** Names that a lenient reader takes for the same one. */
const ALIKE: readonly ((name: string) => string)[] = [
  ...[' ', '\0', '[]', '[x]', '[0]', '.x'].map((more) => (name: string) => name + more),
  ...[' ', '\ufeff'].map((more) => (name: string) => more + name),
  (name) => `payload[${name}]`,
  (name) => name.replace(/^payload\[(.*)\]$/, '$1'),
  (name) => name.toUpperCase(),
  () => '__proto__',
];
const name = weighted<Rewritten>(
  [12, fc.constant((own, { quote }) => quote(own.name))],
  [3, fc.nat().map((at) => (own, writing) => escapedAt(own.name, at, writing))],
  [
    3,
    oneOf(ALIKE).map(
      (change) =>
        (own, { quote }) =>
          quote(change(own.name)),
    ),
  ],
  [
    1,
    text.map(
      (other) =>
        (_, { quote }) =>
          quote(other),
    ),
  ],
);
const REWRITTEN: readonly Rewritten[] = [
  ({ written }) => ` ${written} \n`,
  ({ written }) => `[${written}]`,
  ({ written }) => written.replaceAll('%20', '+'),
  ({ written }) => written.replaceAll('%', '%25'),
  ({ value }, { quote }) => quote(value),
  ({ value }, { quote }) => quote(value.normalize('NFD')),
  ({ value }, { quote }) => quote(value.normalize('NFC')),
];
const value = weighted<Rewritten>(
  [6, fc.constant(({ written }) => written)],
  [2, fc.nat().map((at) => (own, writing) => escapedAt(own.value, at, writing))],
  [2, oneOf(REWRITTEN)],
  [
    3,
    text.map(
      (other) =>
        (_, { quote }) =>
          quote(other),
    ),
  ],
  [
    1,
    fc.nat(4).map(
      (at) =>
        (_, { quote }, fields) =>
          quote(fields[at] ?? ''),
    ),
  ],
  [
    3,
    fc.nat().map(
      (at) =>
        (_, { values }) =>
          values[at % values.length] ?? '',
    ),
  ],
  [1, fc.jsonValue({ maxDepth: 4 }).map((json) => () => JSON.stringify(json))],
);

const edit = fc.record({
  verb: oneOf(['replace', 'replace', 'replace', 'add', 'add', 'remove', 'extra']),
  /** Which of the five fields; the sixth is the payload, or the signature of a redirect. */
  which: fc.nat(5),
  at: fc.nat(),
  /** Whether a member of the payload is meant for the place beside it, or the reverse. */
  isElsewhere: mostly(5, false, fc.constant(true)),
  name,
  value,
});
type Edit = Made<typeof edit>;

/** A callback or redirect as the service signs it, and edits of it. */
const structure = fc.record({
  /** The index of its subject. The first one has the default rules, which most merchants have. */
  subject: mostly(3, fc.nat(), fc.constant(0)),
  key: fc.nat(),
  channel: mostly<'callback' | 'redirect'>(4, 'callback', fc.constant('redirect')),
  fields: fc.tuple(
    mostly(5, 'transaction.completed', text),
    mostly(5, reference('ORD'), text),
    mostly(9, reference('INT'), text),
    mostly(9, 'COLLECTION', text),
    mostly(9, 'COMPLETED', text),
  ),
  t: time,
  /** The index of an unsigned member. */
  extra: fc.option(fc.nat(15)),
  isReversed: mostly(4, false, fc.constant(true)),
  isNested: mostly(2, false, fc.constant(true)),
  /** The reference that the merchant expects of a redirect. */
  expects: mostly<string | undefined>(4, undefined, oneOf(['', ' ', 'same'])),
  edits: fc.array(edit, { maxLength: 16, size: 'max' }),
  /** The parts of one more header. */
  parts: fc.array(weighted([2, oneOf(['t', 's', 'v=1', ''])], [1, text]), { maxLength: 4 }),
  /** For the edits of headers and characters. */
  seed: fc.noShrink(fc.nat()),
});
type Structure = Made<typeof structure>;
type Made<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** The body of a callback as JSON, or the query of a redirect with its signature, after edits. */
function write(given: Structure, edits: readonly Edit[], signature = ''): string {
  const { channel, fields, extra, isReversed, isNested } = given;
  const isBody = channel === 'callback';
  const writing = isBody ? JSON_TEXT : QUERY_TEXT;
  const { quote, join } = writing;
  const names = NAMES.map((one, at) => (isNested && !isBody && at > 0 ? `payload[${one}]` : one));
  const own = [...names, isBody ? 'payload' : 'hmac_signature'].map((name, at): Member => {
    const value = fields[at] ?? signature;
    return { name, value, written: quote(value) };
  });
  const genuine = own.map(({ name, written }) => join(quote(name), written));
  const [inner, rest] = [genuine.slice(1, 5), [genuine[0] ?? '', genuine[5] ?? '']];
  if (extra !== null) inner.splice(extra % 5, 0, writing.extra[extra] ?? '');
  const outer = isBody ? rest : [...inner, ...rest];
  if (isReversed) outer.reverse();
  for (const { verb, which, at, isElsewhere, ...to } of edits) {
    const isInner = (which === 0 || which === 5) === isElsewhere;
    const members = isBody && isInner ? inner : outer;
    const place = members.indexOf(genuine[which] ?? '');
    const payload = `{${inner.join()}}`;
    const member = own[which] as Member;
    const whole = isBody && which === 5 ? { ...member, value: payload, written: payload } : member;
    const changed = join(to.name(whole, writing, fields), to.value(whole, writing, fields));
    const added = verb === 'extra' ? (writing.extra[at % writing.extra.length] ?? '') : changed;
    if (verb === 'remove') members.splice(place, place < 0 ? 0 : 1);
    else if (verb === 'replace' && place >= 0) members[place] = added;
    else members.splice(at % (members.length + 1), 0, added);
  }
  if (!isBody) return outer.join('&');
  return `{${outer.map((one) => (one === genuine[5] ? `"payload":{${inner.join()}}` : one)).join()}}`;
}

/** An input and its number of edits from a genuine one. A signature made after an edit counts as another. */
export interface Candidate {
  readonly input: Input;
  readonly edits: number;
}
export interface Batch {
  readonly from: Subject;
  /** The genuine one is the first. */
  readonly candidates: readonly Candidate[];
}

/** Batches under one of the options each. A structure alone determines its batch, and fast-check shrinks it. */
export function batches(all: readonly Subject[]): fc.Arbitrary<Batch> {
  return structure.map((given) => batchOf(all[given.subject % all.length] as Subject, given));
}

function batchOf(from: Subject, given: Structure): Batch {
  const { channel, fields, t, edits, expects } = given;
  const random = seededRandom(given.seed, 0);
  const key = given.key % (from.options.signing_keys?.length ?? 1);
  const s = from.second.digest(fields, key);
  const genuine = `t=${t},s=${s}`;
  const expected = expects === 'same' ? fields[1] : expects;
  /** A body or query that takes a signature. */
  const carrier = (by: readonly Edit[], isSpoiled = false, of = given) => {
    if (channel === 'redirect')
      return (signature: unknown): Input => {
        const query = write(of, by, typeof signature === 'string' ? signature : 'nonsense');
        return { channel, query: isSpoiled ? mutateQuery(query, random) : query, expected };
      };
    const text = write(of, by);
    const body = isSpoiled ? mutateBody(text, random) : form(text, random.next());
    return (signature: unknown): Input => ({ channel, signature, body });
  };

  const unchanged = carrier([]);
  // A callback is judged faster, and more of them depend on its header.
  const count = channel === 'callback' ? 30 : 5;
  const signatures: unknown[] = [
    given.parts.map((part) => ({ t: `t=${t}`, s: `s=${s}` })[part] ?? part).join(),
    ...Array.from({ length: count }, () => mutateHeader({ subject: from, key, fields, t, s }, random)),
  ];
  const changed = [
    ...edits.map((one) => carrier([one])),
    carrier([], false, { ...given, fields: shifted(fields, given.seed) }),
    ...Array.from({ length: 5 }, () => carrier([], true)),
  ];
  const candidates: Candidate[] = [
    { input: unchanged(genuine), edits: 0 },
    ...signatures.map((one) => ({ input: unchanged(one), edits: 1 })),
    ...changed.map((one) => ({ input: one(genuine), edits: 1 })),
    ...changed.slice(0, 5).map((one) => {
      const again = from.second.digest(readLeniently(one(genuine)), key);
      return { input: one(`t=${t},s=${again}`), edits: 2 };
    }),
    ...Array.from({ length: 2 * count }, () => {
      return { input: random.pick(changed)(random.pick(signatures)), edits: 2 };
    }),
    { input: carrier(edits)(random.pick([genuine, ...signatures])), edits: edits.length },
  ];
  return { from, candidates };
}

/** Mostly as a string, which is read fastest; otherwise as bytes, or parsed. */
function form(text: string, roll: number): unknown {
  if (roll < 0.75) return text;
  if (roll < 0.9) return new TextEncoder().encode(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The same signed string split elsewhere, if it has more than four `:`. */
function shifted(fields: Structure['fields'], at: number): Structure['fields'] {
  const pieces = fields.join(':').split(':');
  const more = Math.max(0, pieces.length - NAMES.length);
  const next = (index: number): string => pieces.splice(0, index === at % 5 ? 1 + more : 1).join(':');
  return [next(0), next(1), next(2), next(3), next(4)];
}

/** The five fields as a verifier would read them that converts other values to strings, and takes the last of two. */
export function readLeniently(input: Input): readonly string[] {
  if (input.channel === 'redirect') {
    const given = new URLSearchParams(input.query.replace(/^.*\?/, ''));
    return NAMES.map((name) => given.getAll(name).at(-1) ?? given.getAll(`payload[${name}]`).at(-1) ?? '');
  }
  let { body } = input;
  try {
    if (body instanceof Uint8Array) body = new TextDecoder().decode(body);
    if (typeof body === 'string') body = JSON.parse(body);
  } catch {
    return [String(body)];
  }
  const at = (holder: unknown, name: string): unknown =>
    holder instanceof Object ? Reflect.get(holder, name) : undefined;
  const payload = at(body, 'payload');
  return NAMES.map((name) => {
    const value = at(name === 'event' ? body : payload, name);
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  });
}

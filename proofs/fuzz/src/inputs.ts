import { type SeededRandom, seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import fc from 'fast-check';
import { ALIKE, IN_HEADERS, INVALID_UTF8, NO_HASH, ODD, TIMES, WRITINGS, type Writing } from './oddities.ts';
import { hmac, type Input, type Judged, keysOf, NAMES, OPTIONS } from './verifiers.ts';

const mostly = <T>(weight: number, usual: T | fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> => {
  const arbitrary = usual instanceof fc.Arbitrary ? usual : fc.constant(usual);
  return fc.oneof({ weight, arbitrary }, { weight: 1, arbitrary: other });
};
const anything = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 12 }));
const text = mostly(3, fc.constantFrom(...ODD), anything);
const reference = (prefix: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(99_999), mostly(9, '', fc.constantFrom(':7', ':', ':a:b')))
    .map(([number, more]) => `${prefix}-${number}${more}`);
const near = (time: number, range: number): fc.Arbitrary<string> =>
  fc.integer({ min: time - range, max: time + range }).map(String);
const time = fc.oneof(near(1_700_000_010_000, 40_000), near(1_700_000_010, 40), fc.constantFrom(...TIMES));

/** A callback or redirect as the service signs it, and what its edits are made of. */
const genuine = fc.record({
  /** The place of its options. The first ones are the default rules, which most merchants have. */
  options: mostly(3, fc.nat(), fc.constant(0)),
  key: fc.nat(),
  channel: mostly<Input['channel']>(4, 'callback', fc.constant('redirect')),
  fields: fc.tuple(
    mostly(5, 'transaction.completed', text),
    mostly(5, reference('ORD'), text),
    mostly(9, reference('INT'), text),
    mostly(9, 'COLLECTION', text),
    mostly(9, 'COMPLETED', text),
  ),
  t: mostly(2, '1700000010', time),
  /** The place of an unsigned member. */
  extra: fc.option(fc.nat(15)),
  isReversed: mostly(4, false, fc.constant(true)),
  isNested: mostly(2, false, fc.constant(true)),
  /** The reference that the merchant expects of a redirect. */
  expects: mostly<string | undefined>(4, undefined, fc.constantFrom('', ' ', 'same')),
  texts: fc.array(text, { minLength: 4, maxLength: 4 }),
  json: fc.jsonValue({ maxDepth: 4 }),
  seed: fc.nat(),
});
type Genuine = typeof genuine extends fc.Arbitrary<infer T> ? T : never;

/** A member of a body or a pair of a query: its name and value, plain and as written. */
interface Member {
  readonly name: string;
  readonly value: string;
  readonly written: string;
}

/** The body of a callback as JSON, or the query of a redirect with its signature. Each edit is a seed of one change. */
function write(given: Genuine, edits: readonly number[], signature: string): string {
  const { channel, fields, extra, isReversed, isNested } = given;
  const isBody = channel === 'callback';
  const writing = WRITINGS[channel];
  const names = NAMES.map((one, at) => (isNested && !isBody && at > 0 ? `payload[${one}]` : one));
  const own = [...names, isBody ? 'payload' : 'hmac_signature'].map((name, at): Member => {
    const value = fields[at] ?? signature;
    return { name, value, written: writing.quote(value) };
  });
  const untouched = own.map(({ name, written }) => writing.join(writing.quote(name), written));
  const [inner, rest] = [untouched.slice(1, 5), [untouched[0] ?? '', untouched[5] ?? '']];
  if (extra !== null) inner.splice(extra % 5, 0, writing.extra[extra] ?? '');
  const outer = isBody ? rest : [...inner, ...rest];
  if (isReversed) outer.reverse();
  for (const seed of edits) {
    const random = seededRandom(seed, 1);
    const verb = random.pick(['replace', 'replace', 'replace', 'add', 'add', 'remove', 'extra']);
    const which = random.between(0, 5);
    // A member of the payload may be meant for the place beside it, or the reverse.
    const isInner = (which === 0 || which === 5) === random.next() < 1 / 6;
    const members = isBody && isInner ? inner : outer;
    const place = members.indexOf(untouched[which] ?? '');
    const payload = `{${inner.join()}}`;
    const member = own[which] as Member;
    const whole = isBody && which === 5 ? { ...member, value: payload, written: payload } : member;
    const changed =
      verb === 'extra'
        ? random.pick(writing.extra)
        : writing.join(editName(whole, given, random), editValue(whole, given, random));
    if (verb === 'remove') members.splice(place, place < 0 ? 0 : 1);
    else if (verb === 'replace' && place >= 0) members[place] = changed;
    else members.splice(random.between(0, members.length), 0, changed);
  }
  if (!isBody) return outer.join('&');
  return `{${outer.map((one) => (one === untouched[5] ? `"payload":{${inner.join()}}` : one)).join()}}`;
}

function editName({ name }: Member, { channel, texts }: Genuine, random: SeededRandom): string {
  const roll = random.between(0, 18);
  const { quote } = WRITINGS[channel];
  if (roll < 12) return quote(name);
  if (roll < 15) return escapeOne(name, random, WRITINGS[channel]);
  return quote(roll < 18 ? random.pick(ALIKE)(name) : random.pick(texts));
}

function editValue({ value, written }: Member, given: Genuine, random: SeededRandom): string {
  const { channel, fields, texts, json } = given;
  const { quote, values } = WRITINGS[channel];
  const roll = random.between(0, 17);
  if (roll < 6) return written;
  if (roll < 8) return escapeOne(value, random, WRITINGS[channel]);
  if (roll < 11) return quote(random.pick(texts));
  if (roll < 14) return random.pick(values);
  if (roll < 16) return random.pick([quote(random.pick(fields)), JSON.stringify(json)]);
  return random.pick([
    ...[` ${written} \n`, `[${written}]`, written.replaceAll('%20', '+'), written.replaceAll('%', '%25')],
    ...[value, value.normalize('NFD'), value.normalize('NFC')].map(quote),
  ]);
}

/** The text with one character escaped that need not be. */
function escapeOne(given: string, random: SeededRandom, { quote, escaped }: Writing): string {
  const plain = given.replace(/[^!#-[\]-~]/g, '') || 'x';
  const place = random.between(0, plain.length - 1);
  const code = plain.charCodeAt(place).toString(16);
  const written = escaped(random.next() < 0.5 ? code.toUpperCase() : code);
  // A NUL in its place, which both channels must quote.
  return quote(`${plain.slice(0, place)}\0${plain.slice(place + 1)}`).replace(/\\u0000|%00/, written);
}

/** One edit of a genuine signature header. */
function editHeader(given: Genuine, s: string, keys: readonly string[], random: SeededRandom): unknown {
  const t = `t=${given.t}`;
  const whole = `${t},s=${s}`;
  const at = random.between(0, 63);
  const digit = s[at] ?? '';
  const replaced = (by: string): string => `${t},s=${s.slice(0, at)}${by}${s.slice(at + 1)}`;
  const part = random.pick([t, `s=${s}`, 't=1', 's=0', 't=', 's=', NO_HASH]);
  const other = random.pick(['v=1', 'v=', 'v', '=1', 's2=abc', 'S=1', 'T=5', '__proto__=1', 'v=a=b', '']);
  const padding = 'x'.repeat(Math.max(1, 253 - whole.length + random.between(-1, 1)));
  const edits: readonly (() => unknown)[] = [
    () => replaced(random.pick([...'0123456789abcdef'])),
    () => replaced(digit.toUpperCase()),
    () => replaced(String.fromCharCode(0x100 + digit.charCodeAt(0))),
    () => `${t},s=${s.toUpperCase()}`,
    () => `${t},s=${s.slice(0, at)}`,
    () => `${t},s=${s.slice(1)}${s[0] ?? ''}`,
    () => `${t},s=${Buffer.from(s, 'hex').toString('base64')}`,
    () => whole + random.pick(IN_HEADERS),
    () => random.pick([`s=${s},${t}`, `${whole},v=${padding}`, `${whole}, ${whole}`]),
    () => random.pick([`${whole},${other}`, `${other},${whole}`]),
    () => random.pick([`${whole},${part}`, `${part},${whole}`]),
    () => random.pick([[whole], [`t=1,${NO_HASH}`, whole], { t: given.t, s }]),
    () => random.pick([undefined, null, '', 5, true, {}, []]),
    () => `t=${random.pick(TIMES)},s=${s}`,
    () => `t=${1_700_000_010 + random.between(-31, 31)},s=${s}`,
    () => `${t},s=${hmac(random.pick(keys), given.fields.join(':'))}`,
    () => `${t},s=${hmac(random.pick(keys), [given.t, ...given.fields].join(':'))}`,
    ...Array.from({ length: 4 }, () => () => spoil(whole, random, IN_HEADERS)),
  ];
  return random.pick(edits)();
}

/** One edit of the characters of a body, or of its bytes. */
function spoilBody(written: string, random: SeededRandom): Partial<Input> {
  const at = random.between(0, written.length);
  const [before, after] = [written.slice(0, at), written.slice(at)].map((half) => Buffer.from(half));
  const { stray } = WRITINGS.callback;
  const [roll, invalid] = [random.between(0, 9), random.pick(INVALID_UTF8)];
  if (roll < 2) return { body_hex: `${before?.toString('hex')}${invalid}${after?.toString('hex')}` };
  const texts = [`${before}`, `\ufeff${written}`, `\ufeff\ufeff${written}`, written + random.pick(stray)];
  // The last one is a piece repeated, or left out.
  texts.push(before + written.slice(random.between(0, written.length)));
  return { body_text: roll < 6 ? random.pick(texts) : spoil(written, random, stray) };
}

/** One edit of a character: it is removed, replaced, swapped with the next one, or preceded by another. */
function spoil(given: string, random: SeededRandom, stray: readonly string[]): string {
  const at = random.between(0, given.length);
  const [before, character, after] = [given.slice(0, at), given.slice(at, at + 1), given.slice(at + 1)];
  const added = random.pick(stray);
  const swapped = after.slice(0, 1) + character + after.slice(1);
  return before + random.pick([after, added + after, swapped, added + character + after]);
}

/** Inputs under one of the options: the genuine one first, then those that are one edit away from it. */
export interface Batch extends Judged {
  readonly near: number;
}
export const batches: fc.Arbitrary<Batch> = genuine.map((given) => {
  const { channel, fields, t, expects } = given;
  const options = OPTIONS[given.options % OPTIONS.length] ?? OPTIONS[0];
  const random = seededRandom(given.seed, 0);
  const seeds = (count: number): readonly number[] =>
    Array.from({ length: count }, () => random.between(0, 1e9));
  const keys = keysOf(options);
  const key = keys[given.key % keys.length] ?? '';
  const signed = (by: readonly string[]): string => `t=${t},s=${hmac(key, by.join(':'))}`;
  const expected = expects === 'same' ? fields[1] : expects;
  const expecting = expected === undefined ? {} : { options: { expect_reference: expected } };
  /** A body or query that takes a signature. */
  const carrier = (edits: readonly number[], isSpoiled = false) => {
    const [seed = 0] = seeds(1);
    if (channel === 'redirect')
      return (signature: unknown): Input => {
        const query = write(given, edits, String(signature));
        return { channel, query: isSpoiled ? spoilQuery(query, seededRandom(seed, 2)) : query, ...expecting };
      };
    const written = write(given, edits, '');
    const body = isSpoiled ? spoilBody(written, random) : formOf(written, random.next());
    return (signature: unknown): Input => ({ channel, signature, ...body });
  };

  const unchanged = carrier([]);
  // A callback is judged faster, and more of them depend on its header.
  const count = channel === 'callback' ? 30 : 5;
  const [, s = ''] = signed(fields).split('s=');
  const signatures = Array.from({ length: count }, () => editHeader(given, s, keys, random));
  const edits = seeds(8);
  const changed = [
    ...edits.map((one) => carrier([one])),
    ...Array.from({ length: 5 }, () => carrier([], true)),
  ];
  const one = [...signatures.map((by) => unchanged(by)), ...changed.map((by) => by(signed(fields)))];
  const two = [
    ...[...changed.slice(0, 3), ...changed.slice(-3)].map((by) =>
      by(signed(readLeniently(by(signed(fields))))),
    ),
    ...Array.from({ length: 2 * count }, () => random.pick(changed)(random.pick(signatures))),
    carrier(edits)(signed(fields)),
  ];
  return { options, inputs: [unchanged(signed(fields)), ...one, ...two], near: one.length };
});

/** One edit of the characters of a query, or an address in front of it. */
function spoilQuery(query: string, random: SeededRandom): string {
  if (random.next() > 0.3) return spoil(query, random, WRITINGS.redirect.stray);
  return random.pick(['?', '/paid?', 'https://shop.example/a?', '??', '/', 'x?']) + query;
}

/** Mostly as a string, which is read fastest; otherwise as bytes, or parsed. */
function formOf(written: string, roll: number): Partial<Input> {
  if (roll < 0.75) return { body_text: written };
  const body_json = parsed(written);
  if (roll < 0.9 || body_json === undefined) return { body_hex: Buffer.from(written).toString('hex') };
  return { body_json };
}

/** The body as JSON, without a check of repeated names or of its bytes; undefined if it is not JSON. */
export function parsed(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

export function bodyOf({ body_text, body_hex = '', body_json }: Input): unknown {
  return body_json ?? parsed(body_text ?? Buffer.from(body_hex, 'hex').toString());
}

/** The five fields as a verifier would read them that converts other values to strings, and takes the last of two. */
export function readLeniently(input: Input): readonly string[] {
  if (input.query !== undefined) {
    const given = new URLSearchParams(input.query.replace(/^.*\?/, ''));
    return NAMES.map((name) => given.getAll(name).at(-1) ?? given.getAll(`payload[${name}]`).at(-1) ?? '');
  }
  const at = (holder: unknown, name: string): unknown =>
    holder instanceof Object ? Reflect.get(holder, name) : undefined;
  const body = bodyOf(input);
  if (body === undefined) return [input.body_text ?? ''];
  return NAMES.map((name) => {
    const value = at(name === 'event' ? body : at(body, 'payload'), name);
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  });
}

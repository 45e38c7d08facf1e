import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type SeededRandom, seededRandom } from '../history/seeded-random.ts';

export const SIGNING_KEY = 'COST-OF-HOSTILITY-7Kq2';

/** Shapes of input by name. Each can be made in any size in characters, to within one unit. */
export type Shapes = Readonly<Record<string, (size: number) => string>>;

const data = sampleCallback();
const genuine = JSON.stringify(data);
export const SIGNATURE: string = signCallback({ signingKey: SIGNING_KEY, data, timestamp: 1_763_700_000 });
const fields = { event: data.event, ...data.payload, hmac_signature: SIGNATURE };
const query = Object.entries(fields)
  .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  .join('&');

type Unit = (index: number, random: SeededRandom) => string;

/** Enough units to fill `size` characters; the same units for the same seed. */
function filled(size: number, seed: number, unit: Unit): string {
  const random = seededRandom(seed, 0);
  let text = '';
  for (let index = 0; text.length < size; index++) text += unit(index, random);
  return text;
}

const escaped = (text: string): string =>
  [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** What a JSON string may consist of. */
const LETTERS: Readonly<Record<string, Unit>> = {
  letters: () => 'x',
  'letters of signed names': (_, random) => random.pick(['e', 'r', 'n', 't', '_', 'a', 's']),
  'two-byte letters': () => '\u00e9',
  'three-byte letters': () => '\u20ac',
  'four-byte letters': () => '\u{1f642}',
  'escapes of one letter': () => '\\n',
  'escapes of a code point': () => '\\u0041',
  'lone surrogates': () => '\\ud800',
  backslashes: () => '\\\\',
  'quotation marks': () => '\\"',
  braces: () => '{[',
};

/** What a JSON array may consist of. */
const ITEMS: Readonly<Record<string, Unit>> = {
  digits: () => '1,',
  'numbers of 15 digits': (_, random) => `${random.between(1e14, 9e14)},`,
  'numbers of 300 digits': () => `${'7'.repeat(300)},`,
  'numbers with exponents': (index) => `-1.5e-${index % 300},`,
  'empty strings': () => '"",',
  'strings "event"': () => '"event",',
  'strings "payload"': () => '"payload",',
  'empty lists': () => '[],',
  'empty objects': () => '{},',
  'objects {"event":1}': () => '{"event":1},',
  words: () => 'null,',
  'white space': () => ' \n\t',
};

/** The possible members of an object. */
const MEMBERS: Readonly<Record<string, Unit>> = {
  'distinct names': (index) => `"n${index}":1,`,
  'one name, repeated': () => '"n":1,',
  'names of digits': (index) => `"${index}":1,`,
  'long names': (index) => `"${index}${'n'.repeat(500)}":1,`,
  'names with escapes': (index) => `"\\u0061${index}":1,`,
  'names __proto__': () => '"__proto__":{},',
  'names that nearly are signed': (index) => `"merchant_reference${index % 7}":1,`,
  'names like an escaped event': (index) => `"${escaped('event')}${index}":1,`,
};

const SIGNED = ['event', 'payload', 'merchant_reference', 'transaction_status'];

/** A random JSON value of random depth. */
function anyValue(random: SeededRandom, depth: number): string {
  const kind = depth === 0 ? random.between(0, 4) : random.between(0, 6);
  const some = (unit: () => string): string => Array.from({ length: random.between(0, 5) }, unit).join();
  if (kind === 0) return String(random.between(-1e6, 1e6) / 8);
  if (kind === 1) return random.pick(['null', 'true', '1e300']);
  if (kind < 4)
    return JSON.stringify(random.pick(['', 'event', 'payload', '\u0000', '\ud800', 'x'.repeat(40), 'é']));
  if (kind === 4) return `"${escaped(random.pick(['a', 'event', 'payload']))}"`;
  if (kind === 5) return `[${some(() => anyValue(random, depth - 1))}]`;
  return `{${some(() => `"${random.pick(['event', 'a', 'b', 'payload'])}":${anyValue(random, depth - 1)}`)}}`;
}

type Place = 'callback' | 'payload';

/** A genuine callback with members added; its signature stays valid. */
const withMembers = (members: string, where: Place): string =>
  where === 'payload' ? `${genuine.slice(0, -2)},${members}}}` : `${genuine.slice(0, -1)},${members}}`;
const withValue = (value: string, where: Place): string => withMembers(`"x":${value}`, where);

/** A shape for each unit of a table. */
function shapesOf<U>(
  units: Readonly<Record<string, U>>,
  nameOf: (unit: string) => string,
  make: (size: number, unit: U) => string,
): Shapes {
  const made = Object.entries(units).map(([name, unit]) => [
    nameOf(name),
    (size: number) => make(size, unit),
  ]);
  return Object.fromEntries(made);
}

function bodiesWith(where: Place): Shapes {
  const inPlace = (name: string): string => `${name} in the ${where}`;
  const listed = (size: number, seed: number, unit: Unit): string =>
    withValue(`[${filled(size, seed, unit)}1]`, where);
  const value: Unit = (_, random) => `${anyValue(random, 6)},`;
  return {
    ...shapesOf(
      LETTERS,
      (name) => `a string of ${inPlace(name)}`,
      (size, unit) => withValue(`"${filled(size, 1, unit)}"`, where),
    ),
    ...shapesOf(
      ITEMS,
      (name) => `a list of ${inPlace(name)}`,
      (size, unit) => listed(size, 2, unit),
    ),
    ...shapesOf(MEMBERS, inPlace, (size, unit) => withMembers(`${filled(size, 3, unit)}"z":1`, where)),
    ...shapesOf({ 'nested lists': '[]', 'nested objects': '{"a":}' }, inPlace, (size, level) => {
      const levels = Math.floor(size / level.length);
      return withValue(level.slice(0, -1).repeat(levels) + 1 + level.slice(-1).repeat(levels), where);
    }),
    ...shapesOf(
      { 5: 5, 6: 6, 7: 7, 8: 8 },
      (seed) => inPlace(`random values, seed ${seed},`),
      (size, seed) => listed(size, seed, value),
    ),
  };
}

/** A shape for each unit, which it repeats. */
function repetitions(units: readonly string[], make: (size: number, unit: string) => string): Shapes {
  return Object.fromEntries(units.map((unit) => [`${unit}, repeated`, (size: number) => make(size, unit)]));
}

/** Bodies of callbacks: strings, numbers, escapes, nesting, names. */
export const BODIES: Shapes = {
  ...bodiesWith('callback'),
  ...bodiesWith('payload'),
  ...repetitions(SIGNED, (size, name) => {
    return `{${filled(size, 4, () => `"${name}":1,`)}${genuine.slice(1)}`;
  }),
  'opening brackets': (size) => '['.repeat(size),
  'a string without an end': (size) => `{"a":"${'x'.repeat(size)}`,
};

const PARAMETERS: Readonly<Record<string, Unit>> = {
  'one name, repeated': () => '&a',
  'one name and value, repeated': () => '&id=1',
  'distinct names': (index) => `&n${index}=1`,
  'values of 50 letters': (index) => `&n${index}=${'v'.repeat(50)}`,
  'escapes of letters': () => '%61',
  'escapes of UTF-8': () => '%E2%82%AC',
  'invalid escapes': () => '%zz',
  'plus signs': () => '+',
  'equals signs': () => '=',
  ampersands: () => '&',
  'question marks': () => '?',
  'number signs': () => '#',
  brackets: () => '[]',
  'bracketed names': (index) => `&payload[n${index}]=1`,
  'signed names in brackets': () => '&event[]=x',
  'random characters': (_, random) => random.pick(['a', '%', '&', '=', '[', ']', '+', ';', '%41', '?', '.']),
};

/** Queries of redirects, after the genuine parameters or alone. */
export const QUERIES: Shapes = Object.assign(
  {},
  ...Object.entries(PARAMETERS).map(
    ([name, unit]): Shapes => ({
      [`${name}, behind genuine parameters`]: (size) => `?${query}&x=${filled(size, 9, unit)}`,
      [`${name}, alone`]: (size) => `?${filled(size, 9, unit)}`,
    }),
  ),
);

/** Values of `hmac-signature`. */
export const HEADERS: Shapes = {
  commas: (size) => ','.repeat(size),
  'equals signs': (size) => '='.repeat(size),
  parts: (size) => `${filled(size, 10, () => 'a=b,')}${SIGNATURE}`,
  'repeated t': (size) => `${filled(size, 10, () => 't=1,')}${SIGNATURE}`,
  'a long part': (size) => `x=${'x'.repeat(size)},${SIGNATURE}`,
  'repeated signatures': (size) => filled(size, 10, () => `${SIGNATURE}, `),
  'Latin-1 letters': (size) => `t=${'\u00e9'.repeat(size)},${SIGNATURE}`,
};

const PROVIDER = `{"provider_name":"Example","provider_code":"example","transaction_method":"MOBILE",
  "transaction_method_name":"Mobile","transaction_type":"COLLECTION","transaction_currency":"UGX","min_amount":500,
  "max_amount":5000000,"max_daily_amount":10000000,"is_active":true,"option_prefixes":["25677","25678"]}`;
const WALLET = `{"currency":"UGX","wallet_type":"COLLECTION","available_balance":100.5,"actual_balance":110.75,
  "uncleared_balance":10,"reserve_balance":0.25}`;

/** A response with many rows, and what a hostile service adds to it. */
function response(list: string, rows: string, extra = ''): string {
  return `{"status":"success","code":200,"message":"ok","data":{"${list}":[${rows}]${extra}}}`;
}

function responses(list: string, row: string): Shapes {
  const text = JSON.stringify(JSON.parse(row));
  const added = (value: string): string => `${text.slice(0, -1)},"x":${value}}`;
  const rows = (size: number, unit: Unit): string => response(list, filled(size, 11, unit) + text);
  return {
    'genuine rows': (size) => rows(size, () => `${text},`),
    'rows with another field': (size) => rows(size, (index) => `${added(String(index))},`),
    'empty rows': (size) => rows(Math.min(size, 20_000), () => '{},'),
    'numbers as rows': (size) => rows(Math.min(size, 15_000), () => '1,'),
    'numbers beside the list': (size) =>
      response(list, text, `,"x":[${filled(Math.min(size, 140_000), 13, () => '1,')}1]`),
    'nested lists in a row': (size) =>
      response(list, added('['.repeat(Math.min(size, 30_000)) + ']'.repeat(Math.min(size, 30_000)))),
    'a number of digits in a row': (size) => response(list, added('7'.repeat(size))),
    'distinct names in a row': (size) =>
      response(list, added(`{${filled(Math.min(size, 500_000), 14, (index) => `"n${index}":1,`)}"z":1}`)),
    'no JSON': (size) => '<p>'.repeat(size / 3),
    ...shapesOf(
      LETTERS,
      (name) => `a string of ${name} in a row`,
      (size, unit) => response(list, added(`"${filled(size, 12, unit)}"`)),
    ),
  };
}

export const PROVIDERS: Shapes = responses('payment_providers', PROVIDER);

/** The possible balances of a wallet. */
const BALANCES: Readonly<Record<string, Unit>> = {
  'whole numbers': (_, random) => String(random.between(0, 1e9)),
  'numbers with two places': (_, random) => `${random.between(0, 1e7)}.${random.between(10, 99)}`,
  'numbers of 15 digits': (_, random) => `${random.between(1, 9)}.${random.between(1e13, 9e13)}`,
  'numbers of 17 digits': (_, random) => `${random.between(1e14, 9e14)}${random.between(10, 99)}`,
  'numbers of 300 digits': () => '7'.repeat(300),
  'numbers of 1,000 digits, most of them zeros': () => `0.1${'0'.repeat(990)}1`,
  'numbers with exponents': (index) => `-1.5e-${index % 300}`,
};

export const WALLETS: Shapes = {
  ...responses('merchant_wallets', WALLET),
  ...shapesOf(
    BALANCES,
    (name) => `balances that are ${name}`,
    (size, unit) => {
      const row: Unit = (index, random) => WALLET.replace(/(?<=balance":)[\d.]+/g, () => unit(index, random));
      return response(
        'merchant_wallets',
        filled(size, 16, (index, random) => `${row(index, random)},`) + WALLET,
      );
    },
  ),
};

/** Bodies of error responses, whose beginning is shown without the keys. */
export const ERRORS: Shapes = {
  ...Object.fromEntries(
    ['x', '&#x41;', '&amp;', '%41', '%2541', '\\u0041', '\\\\', '\n', 'eA==', ' '].map((unit) => [
      `${JSON.stringify(unit)}, repeated`,
      (size: number) => filled(size, 15, () => unit),
    ]),
  ),
  'an envelope with a long message': (size) =>
    JSON.stringify({ status: 'error', code: 500, message: 'x'.repeat(size) }),
};

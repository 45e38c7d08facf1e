import { prepareKey, sha256Hex } from '#digest';
import { SIGNED_NAMES } from '../verify/signed-fields.ts';
import type { KeyOptions, SigningKey } from '../verify/signing-keys.ts';
import type { Cause } from './causes.ts';
import {
  attempt,
  base64Bytes,
  type Facts,
  type LooseSignature,
  type Presumed,
  type Reading,
} from './readings.ts';

/** The keys of the account that refused, and those that could have been used by mistake. */
export interface ExplainKeys extends Pick<KeyOptions, 'signingKey' | 'publicKey' | 'secretKey'> {
  /** Signing keys of other accounts or environments. @default none */
  readonly others?: readonly { readonly id: string; readonly key: string | undefined }[] | undefined;
}

/** A mistake under which the signature fits, or `cause: undefined`: the signature fits as it is. */
export interface Match extends Presumed {
  readonly signature: LooseSignature;
}

type KeyGuess = readonly [cause: Cause | undefined, detail: string, key: string | Uint8Array];

/** Fewer digits of a hash that was cut off prove nothing. */
const MIN_PREFIX = 16;

/**
 * Computes the MAC under each mistake, and compares it with what the request has. One deviation at a time from key, fields
 * and message; the form of the signature may deviate as well. Plain comparisons: the result decides about no request.
 */
export function findMatch(
  facts: Facts,
  signatures: readonly LooseSignature[],
  readings: readonly Reading[],
  guesses: Iterable<KeyGuess>,
): { readonly match: Match | undefined; readonly tried: number } {
  let tried = 0;
  const fitting = (mac: string): LooseSignature | undefined => {
    tried++;
    return signatures.find(({ hash }) => hash === mac || (hash.length >= MIN_PREFIX && mac.startsWith(hash)));
  };
  const own: (string | Uint8Array)[] = [];
  for (const [cause, detail, key] of guesses) {
    if (cause === undefined) own.push(key);
    const hmac = prepareKey(key);
    for (const reading of readings) {
      if (reading.cause !== undefined && cause !== undefined) continue;
      const signature = fitting(hmac(reading.fields.join(':')));
      const presumed = reading.cause === undefined ? { cause, detail } : reading;
      if (signature !== undefined) return { match: { ...presumed, signature }, tried };
    }
  }
  const fields = readings[0]?.fields ?? [];
  const times = [...new Set(signatures.map(({ t }) => t))];
  for (const key of own) {
    const hmac = prepareKey(key);
    for (const [cause, detail, message] of [...bodyMessages(facts, times), ...fieldMessages(fields, times)]) {
      const signature = fitting(hmac(message));
      if (signature !== undefined) return { match: { cause, detail, signature }, tried };
    }
    const message = fields.join(':');
    for (const text of [key + message, message + key, `${key}:${message}`, `${message}:${key}`, message]) {
      const signature = fitting(sha256Hex(new TextEncoder().encode(text)));
      const detail = 'SHA-256 of the fields, with the key or without it, gives this hash.';
      if (signature !== undefined) return { match: { cause: 'plain_hash', detail, signature }, tried };
    }
  }
  return { match: undefined, tried };
}

/** How a detail names a key: by its id and its last four characters. */
export function keyName(id: string, key: string): string {
  return key.trim().length < 12 ? `the key "${id}"` : `the key "${id}" that ends in ${key.trim().slice(-4)}`;
}

/** How a copy of the key can differ from it at the sender. */
const PADDINGS: readonly [what: string, pad: (key: string) => string][] = [
  ['a line feed after it', (key) => `${key}\n`],
  ['CR and LF after it', (key) => `${key}\r\n`],
  ['a space after it', (key) => `${key} `],
  ['a space before it', (key) => ` ${key}`],
  ['quotation marks around it', (key) => `"${key}"`],
];

export function* keyGuesses(keys: ExplainKeys, now: number): Generator<KeyGuess> {
  const { signingKey, publicKey, secretKey, others = [] } = keys;
  const list = typeof signingKey === 'string' ? [{ id: 'signingKey', key: signingKey }] : (signingKey ?? []);
  const own: readonly SigningKey[] = list.filter(({ key }) => typeof key === 'string');
  for (const { id, key, notAfter } of own) {
    const isOver = notAfter !== undefined && now > notAfter.getTime();
    if (key === publicKey || key === secretKey) continue;
    yield [
      isOver ? 'expired_key' : undefined,
      `It fits ${keyName(id, key)}, whose notAfter has passed.`,
      key,
    ];
  }
  for (const { id, key } of others) {
    if (key) yield ['other_key', `It fits ${keyName(id, key)}, which is not configured here.`, key];
  }
  if (publicKey) yield ['public_key', `It fits ${keyName('publicKey', publicKey)}.`, publicKey];
  if (secretKey) yield ['secret_key', `It fits ${keyName('secretKey', secretKey)}.`, secretKey];
  for (const { id, key } of own) {
    const name = keyName(id, key);
    const trimmed = key.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (trimmed !== key)
      yield [
        'key_white_space',
        `It fits ${name} without the white space or quotation marks around it.`,
        trimmed,
      ];
    for (const [what, pad] of PADDINGS) {
      yield ['key_white_space', `It fits ${name} with ${what}: the sender has it so.`, pad(key)];
    }
    // Lenient decoders read a key of any length.
    const whole = key.slice(0, key.length - (key.length % 4));
    const pairs = /^(?:[\da-f]{2})+/i.exec(key)?.[0].match(/../g) ?? [];
    const hex = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
    for (const bytes of [base64Bytes(key), base64Bytes(whole), hex]) {
      const form = bytes === hex ? 'hex' : 'Base64';
      if (bytes?.length)
        yield ['key_decoded', `It fits the bytes that ${form} decoding makes of ${name}.`, bytes];
    }
  }
  for (const empty of ['', 'undefined', 'null']) yield ['key_unset', `It fits the key "${empty}".`, empty];
}

type Message = readonly [cause: Cause, detail: string, message: string];

function* bodyMessages({ text, data }: Facts, times: readonly string[]): Generator<Message> {
  if (text === undefined) return;
  // JSON.parse reads nesting that JSON.stringify cannot write (threat A18).
  const written = (value: unknown, indent?: number): string =>
    attempt(() => JSON.stringify(value, null, indent)) ?? '';
  const payload: unknown = Object(data) === data ? Reflect.get(Object(data), 'payload') : undefined;
  const forms: readonly [form: string, body: string][] = [
    ['the body as it arrived', text],
    ['the body, serialised again', written(data)],
    ['the body with an indentation of 2', written(data, 2)],
    ['the member payload as JSON', written(payload)],
  ];
  for (const [form, body] of forms) {
    yield ['raw_body_signed', `The signature fits ${form}.`, body];
    for (const t of times) {
      for (const joint of ['.', ':', '']) {
        yield ['timestamp_signed', `The signature fits t, "${joint}" and ${form}.`, t + joint + body];
      }
    }
  }
}

/** What the signer may have had where the receiver has the value. */
const CHANGES: readonly [how: string, change: (value: string) => string][] = [
  ['a space after it', (value) => `${value} `],
  ['a space before it', (value) => ` ${value}`],
  ['a line break after it', (value) => `${value}\n`],
  ['no white space around it', (value) => value.trim()],
  ['capital letters', (value) => value.toUpperCase()],
  ['small letters', (value) => value.toLowerCase()],
  ['one capital letter', (value) => value.slice(0, 1).toUpperCase() + value.slice(1).toLowerCase()],
  ['Unicode form NFC', (value) => value.normalize('NFC')],
  ['Unicode form NFD', (value) => value.normalize('NFD')],
  ['percent escapes', (value) => encodeURIComponent(value)],
  ['its percent escapes decoded', (value) => decodeURIComponent(value.replaceAll('+', ' '))],
  [
    'HTML escapes',
    (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  ],
  [
    'its HTML escapes decoded',
    (value) => value.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  ],
];

const SEPARATORS = ['', ' ', ': ', ', ', ',', '.', '|', '-', '_', ';', '/', '&', '\n', '::'];

function* fieldMessages(fields: readonly string[], times: readonly string[]): Generator<Message> {
  if (fields.length === 0) return;
  const joined = fields.join(':');
  for (const [how, change] of CHANGES) {
    for (const name of [...SIGNED_NAMES, 'every field']) {
      const isMeant = (at: number): boolean => name === 'every field' || SIGNED_NAMES[at] === name;
      const values = attempt(() => fields.map((value, at) => (isMeant(at) ? change(value) : value)));
      const detail = `The signature fits when ${name} has ${how}.`;
      if (values !== undefined) yield ['field_changed', detail, values.join(':')];
    }
  }
  for (const separator of SEPARATORS) {
    const detail = `The signature fits the fields joined with ${JSON.stringify(separator)}.`;
    yield ['fields_joined', detail, fields.join(separator)];
  }
  for (const t of times) {
    for (const joint of ['.', ':', '']) {
      yield ['timestamp_signed', 'The signature fits t before the fields.', t + joint + joined];
      yield ['timestamp_signed', 'The signature fits t after the fields.', joined + joint + t];
    }
  }
  for (const order of permutations([...SIGNED_NAMES.keys()])) {
    const names = order.map((at) => SIGNED_NAMES[at]).join(', ');
    yield ['field_order', `The signature fits the order ${names}.`, order.map((at) => fields[at]).join(':')];
  }
  for (let chosen = 1; chosen < 2 ** SIGNED_NAMES.length - 1; chosen++) {
    const isIn = (_: unknown, at: number): boolean => (chosen & (1 << at)) !== 0;
    const left = SIGNED_NAMES.filter((name, at) => !isIn(name, at)).join(', ');
    yield ['fields_joined', `The signature fits without ${left}.`, fields.filter(isIn).join(':')];
  }
}

function* permutations(items: readonly number[]): Generator<readonly number[]> {
  if (items.length < 2) yield items;
  for (const item of items) {
    const others = items.filter((other) => other !== item);
    if (others.length > 0) for (const rest of permutations(others)) yield [item, ...rest];
  }
}

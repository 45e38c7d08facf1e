import { type Hmac, prepareKey, sha256Hex } from '#digest';
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

interface KeyGuess extends Presumed {
  readonly key: string | Uint8Array;
  readonly hmac: Hmac;
}

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
  guesses: readonly KeyGuess[],
): { readonly match: Match | undefined; readonly tried: number } {
  let tried = 0;
  const fitting = (mac: string): LooseSignature | undefined => {
    tried++;
    return signatures.find(({ hash }) => hash === mac || (hash.length >= MIN_PREFIX && mac.startsWith(hash)));
  };
  for (const reading of readings) {
    for (const guess of guesses) {
      if (reading.cause !== undefined && guess.cause !== undefined) continue;
      const signature = fitting(guess.hmac(reading.fields.join(':')));
      const { cause, detail } = reading.cause === undefined ? guess : reading;
      if (signature !== undefined) return { match: { cause, detail, signature }, tried };
    }
  }
  const times = [...new Set(signatures.map(({ t }) => t))];
  const messages = [...bodyMessages(facts, times), ...fieldMessages(readings[0]?.fields ?? [], times)];
  for (const { key, hmac } of guesses.filter(({ cause }) => cause === undefined)) {
    for (const { cause, detail, message } of messages) {
      const signature = fitting(hmac(message));
      if (signature !== undefined) return { match: { cause, detail, signature }, tried };
    }
    const message = readings[0]?.fields.join(':');
    if (message === undefined) continue;
    for (const text of [
      `${key}${message}`,
      `${message}${key}`,
      `${key}:${message}`,
      `${message}:${key}`,
      message,
    ]) {
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
  const guess = (cause: Cause | undefined, detail: string, key: string | Uint8Array): KeyGuess => ({
    cause,
    detail,
    key,
    hmac: prepareKey(key),
  });
  for (const { id, key, notAfter } of own) {
    const isOver = notAfter !== undefined && now > notAfter.getTime();
    if (key === publicKey || key === secretKey) continue;
    yield guess(
      isOver ? 'expired_key' : undefined,
      `It fits ${keyName(id, key)}, whose notAfter has passed.`,
      key,
    );
  }
  for (const { id, key } of others) {
    if (key) yield guess('other_key', `It fits ${keyName(id, key)}, which is not configured here.`, key);
  }
  if (publicKey) yield guess('public_key', `It fits ${keyName('publicKey', publicKey)}.`, publicKey);
  if (secretKey) yield guess('secret_key', `It fits ${keyName('secretKey', secretKey)}.`, secretKey);
  for (const { id, key } of own) {
    const name = keyName(id, key);
    const trimmed = key.trim().replace(/^(["'])(.*)\1$/, '$2');
    const excess = key.length - trimmed.length;
    if (excess > 0)
      yield guess('key_white_space', `It fits ${name} without ${excess} characters around it.`, trimmed);
    for (const [what, pad] of PADDINGS) {
      yield guess('key_white_space', `It fits ${name} with ${what}: the sender has it so.`, pad(key));
    }
    // Lenient decoders read a key of any length.
    const whole = key.slice(0, key.length - (key.length % 4));
    const pairs = /^(?:[\da-f]{2})+/i.exec(key)?.[0].match(/../g) ?? [];
    const hex = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
    for (const bytes of [base64Bytes(key), base64Bytes(whole), hex]) {
      const form = bytes === hex ? 'hex' : 'Base64';
      if (bytes?.length)
        yield guess('key_decoded', `It fits the bytes that ${form} decoding makes of ${name}.`, bytes);
    }
  }
  for (const empty of ['', 'undefined', 'null'])
    yield guess('key_unset', `It fits the key "${empty}".`, empty);
}

interface Message {
  readonly cause: Cause;
  readonly detail: string;
  readonly message: string;
}

function* bodyMessages({ text, data }: Facts, times: readonly string[]): Generator<Message> {
  if (text === undefined) return;
  const forms: [form: string, body: string][] = [['the body as it arrived', text]];
  if (typeof data === 'object' && data !== null) {
    const payload: unknown = Reflect.get(data, 'payload');
    forms.push(
      ['the body, serialised again', JSON.stringify(data)],
      ['the body with an indentation of 2', JSON.stringify(data, null, 2)],
    );
    if (payload !== undefined) forms.push(['the member payload as JSON', JSON.stringify(payload)]);
  }
  for (const [form, body] of forms) {
    yield { cause: 'raw_body_signed', detail: `The signature fits ${form}.`, message: body };
    for (const t of times) {
      for (const joint of ['.', ':', '']) {
        yield {
          cause: 'timestamp_signed',
          detail: `The signature fits t, "${joint}" and ${form}.`,
          message: t + joint + body,
        };
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
    for (const [index, name] of [...SIGNED_NAMES.keys(), -1].map(
      (at) => [at, SIGNED_NAMES[at] ?? 'every field'] as const,
    )) {
      const values = attempt(() =>
        fields.map((value, at) => (index === at || index === -1 ? change(value) : value)),
      );
      if (values === undefined) continue;
      yield {
        cause: 'field_changed',
        detail: `The signature fits when ${name} has ${how}.`,
        message: values.join(':'),
      };
    }
  }
  for (const separator of SEPARATORS) {
    yield {
      cause: 'fields_joined',
      detail: `The signature fits the fields joined with ${JSON.stringify(separator)}.`,
      message: fields.join(separator),
    };
  }
  for (const t of times) {
    for (const message of [
      `${t}:${joined}`,
      `${t}.${joined}`,
      `${joined}:${t}`,
      `${joined}.${t}`,
      t + joined,
      joined + t,
    ]) {
      yield {
        cause: 'timestamp_signed',
        detail: `The signature fits the fields with t ${message.startsWith(joined) ? 'after' : 'before'} them.`,
        message,
      };
    }
  }
  for (const order of permutations([...SIGNED_NAMES.keys()])) {
    const names = order.map((at) => SIGNED_NAMES[at]).join(', ');
    yield {
      cause: 'field_order',
      detail: `The signature fits the order ${names}.`,
      message: order.map((at) => fields[at]).join(':'),
    };
  }
  for (let chosen = 1; chosen < 2 ** SIGNED_NAMES.length - 1; chosen++) {
    const isIn = (_: unknown, at: number): boolean => (chosen & (1 << at)) !== 0;
    const left = SIGNED_NAMES.filter((name, at) => !isIn(name, at)).join(', ');
    yield {
      cause: 'fields_joined',
      detail: `The signature fits without ${left}.`,
      message: fields.filter(isIn).join(':'),
    };
  }
}

function* permutations(items: readonly number[]): Generator<readonly number[]> {
  if (items.length < 2) yield items;
  else
    for (const item of items)
      for (const rest of permutations(items.filter((other) => other !== item))) yield [item, ...rest];
}

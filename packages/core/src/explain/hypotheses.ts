import { prepareKey } from '#digest';
import { type OptionRule, RECORD } from '../options/options.ts';
import { SIGNED_NAMES } from '../verify/signed-fields.ts';
import type { KeyOptions, SigningKey } from '../verify/signing-keys.ts';
import type { Cause } from './causes.ts';
import { attempt, base64Bytes, type Facts, type LooseSignature, type Presumed } from './readings.ts';

/** The keys of the account that refused, and other keys that could have been used by mistake. */
export interface ExplainKeys extends Pick<KeyOptions, 'signingKey' | 'publicKey' | 'secretKey'> {
  /** Signing keys of other accounts or environments. @default none */
  readonly others?: readonly { readonly id: string; readonly key: string | undefined }[] | undefined;
}

export const KEYS: OptionRule = [
  (keys) => RECORD[0](keys) && Array.isArray(Object(keys).others ?? []),
  '{ signingKey }, with a list of others if there are any',
];

/** A mistake that makes the signature match. With `cause: undefined`, it matches as received. */
export interface Match extends Presumed {
  readonly signature: LooseSignature;
}

/** A key, message or hash that the sender may have used, and the mistake that it would imply. */
type Guess<T> = readonly [cause: Cause | undefined, detail: string, used: T];

/** Fewer digits of a truncated hash prove nothing. */
const MIN_PREFIX = 16;

/**
 * Computes the hash under each mistake and compares it with the hashes in the request. The key, the fields and the message
 * deviate one at a time; the form of the signature may deviate as well. Plain comparisons suffice: the result decides no request.
 */
export function findMatch(...known: Parameters<typeof hashes>): {
  readonly match: Match | undefined;
  readonly tried: number;
} {
  const [, signatures] = known;
  let tried = 0;
  for (const [cause, detail, mac] of hashes(...known)) {
    tried++;
    const signature = signatures.find(
      ({ hash }) => hash === mac || (hash.length >= MIN_PREFIX && mac.startsWith(hash)),
    );
    if (signature !== undefined) return { match: { cause, detail, signature }, tried };
  }
  return { match: undefined, tried };
}

function* hashes(
  facts: Facts,
  signatures: readonly LooseSignature[],
  fields: readonly string[] | undefined,
  keys: readonly Guess<string | Uint8Array>[],
): Generator<Guess<string>> {
  for (const [cause, detail, key] of keys)
    if (fields !== undefined) yield [cause, detail, prepareKey(key)(fields.join(':'))];
  const messages = [...messageGuesses(facts, fields, signatures[0]?.t ?? '')];
  for (const [own, , key] of keys) {
    if (own !== undefined) continue;
    const hmac = prepareKey(key);
    for (const [cause, detail, message] of messages) yield [cause, detail, hmac(message)];
  }
}

/** How a detail names a key: by its id and its last four characters. */
export function keyName(id: string, key: string): string {
  return key.trim().length < 12 ? `the key "${id}"` : `the key "${id}" that ends in ${key.trim().slice(-4)}`;
}

export function namedKeys(signingKey: ExplainKeys['signingKey']): readonly SigningKey[] {
  if (typeof signingKey === 'string') return [{ id: 'signingKey', key: signingKey }];
  return Array.isArray(signingKey) ? signingKey.filter((one) => typeof one?.key === 'string') : [];
}

const isKey = (key: unknown): key is string => typeof key === 'string' && key !== '';

/** How a copy of the key can differ from the original, at the sender or here. */
const KEY_COPIES: Readonly<Record<string, (key: string) => string>> = {
  'without the white space or quotation marks around it': (key) => key.trim().replace(/^(["'])(.*)\1$/, '$2'),
  'with a line feed after it': (key) => `${key}\n`,
  'with CR and LF after it': (key) => `${key}\r\n`,
  'with a space after it': (key) => `${key} `,
  'with a space before it': (key) => ` ${key}`,
  'with quotation marks around it': (key) => `"${key}"`,
};

export function* keyGuesses(keys: ExplainKeys, now: number): Generator<Guess<string | Uint8Array>> {
  const { signingKey, publicKey, secretKey, others = [] } = keys;
  const own = namedKeys(signingKey).filter(({ key }) => key !== publicKey && key !== secretKey);
  for (const { id, key, notAfter } of own) {
    const isOver = notAfter !== undefined && now > notAfter.getTime();
    const detail = `It matches ${keyName(id, key)}, whose notAfter has passed.`;
    yield [isOver ? 'expired_key' : undefined, detail, key];
  }
  for (const { id, key } of others.filter(Boolean)) {
    if (isKey(key)) yield ['other_key', `It matches ${keyName(id, key)}, which is not configured here.`, key];
  }
  if (isKey(publicKey)) yield ['public_key', `It matches ${keyName('publicKey', publicKey)}.`, publicKey];
  if (isKey(secretKey)) yield ['secret_key', `It matches ${keyName('secretKey', secretKey)}.`, secretKey];
  for (const { id, key } of own) {
    const name = keyName(id, key);
    for (const [how, copy] of Object.entries(KEY_COPIES))
      yield ['key_white_space', `It matches ${name} ${how}.`, copy(key)];
    // Lenient decoders read a key of any length.
    const base64 = base64Bytes(key.length % 4 === 1 ? key.slice(0, -1) : key);
    const pairs = /^(?:[\da-f]{2})+/i.exec(key)?.[0].match(/../g) ?? [];
    const hex = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
    for (const [form, bytes] of [['Base64', base64] as const, ['hex', hex] as const]) {
      if (!bytes?.length) continue;
      // If it decodes to a key, it was encoded here; if it decodes to noise, the sender decoded it.
      const isKey = bytes.length >= MIN_PREFIX && bytes.every((byte) => /\w/.test(String.fromCharCode(byte)));
      yield [isKey ? 'key_encoded' : 'key_decoded', `It matches ${name}, decoded as ${form}.`, bytes];
    }
  }
  for (const empty of ['', 'undefined', 'null']) yield ['key_unset', `It matches the key "${empty}".`, empty];
}

/** What the signer may have used instead of the received value. */
const CHANGES: Readonly<Record<string, (value: string) => string>> = {
  'a space after it': (value) => `${value} `,
  'a space before it': (value) => ` ${value}`,
  'a line break after it': (value) => `${value}\n`,
  'no white space around it': (value) => value.trim(),
  'capital letters': (value) => value.toUpperCase(),
  'lower-case letters': (value) => value.toLowerCase(),
};

function* messageGuesses(
  { text, data }: Facts,
  fields: readonly string[] | undefined,
  t: string,
): Generator<Guess<string>> {
  // JSON.parse reads nesting that JSON.stringify cannot write (threat A18).
  const bodies: Record<string, string> =
    text === undefined
      ? {}
      : {
          'the body as it arrived': text,
          'the body, serialised again': attempt(() => JSON.stringify(data)) ?? text,
        };
  for (const [what, body] of Object.entries(bodies))
    yield ['raw_body_signed', `The signature matches ${what}.`, body];
  const messages = fields === undefined ? bodies : { ...bodies, 'the fields': fields.join(':') };
  for (const [what, message] of Object.entries(messages)) {
    for (const joint of ['.', ':', '']) {
      yield ['timestamp_signed', `The signature matches t, "${joint}" and ${what}.`, t + joint + message];
      yield ['timestamp_signed', `The signature matches ${what}, "${joint}" and t.`, message + joint + t];
    }
  }
  if (fields === undefined) return;
  for (const [how, change] of Object.entries(CHANGES)) {
    for (const changed of [...SIGNED_NAMES, 'every field']) {
      const isMeant = (at: number): boolean => changed === 'every field' || SIGNED_NAMES[at] === changed;
      const message = fields.map((value, at) => (isMeant(at) ? change(value) : value)).join(':');
      yield ['field_changed', `The signature matches when ${changed} has ${how}.`, message];
    }
  }
}

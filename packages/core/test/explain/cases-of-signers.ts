import { OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';
import type { Case } from './case.ts';
import {
  BODY,
  bodyWith,
  DATA,
  hmac,
  messageOf,
  PUBLIC_KEY,
  SECRET_KEY,
  sha256,
  signed,
} from './wrong-signer.ts';

const MESSAGE = messageOf(DATA);
const HASH = hmac(MESSAGE);
const base64 = (hash: string): string => Buffer.from(hash, 'hex').toString('base64');
const decoded = Buffer.from(SIGNING_KEY, 'base64');
const HEX_KEY = 'a1'.repeat(16);
/** `Buffer.from(key, 'base64')` ignores its last character. */
const ODD_KEY = `${SIGNING_KEY}x`;

type Row<T> = readonly [mistake: string, wrong: T, shows: RegExp, settings?: Case[4]];
type Rows<T> = { readonly [Cause in Case[0]]?: readonly Row<T>[] };
/** The cases of a table by cause. */
function casesOf<T>(
  table: Rows<T>,
  caseOf: (wrong: T) => readonly [request: Case[2], settings?: Case[4]],
): Case[] {
  return Object.entries(table).flatMap(([cause, rows]) =>
    rows.map(([mistake, wrong, shows, settings]): Case => {
      const [request, own] = caseOf(wrong);
      return [cause as Case[0], mistake, request, shows, settings ?? own];
    }),
  );
}

const ALPHABET = 'transaction.completed:INT-77:ORD-1001:COMPLETED:COLLECTION';
const PAYOUT = 'transaction.failed:ORD-1001:INT-77:PAYOUT:FAILED';
const FOUR = MESSAGE.replace('transaction.completed:', '');
/** The message that was signed instead of the fields. */
const MESSAGES: Rows<string> = {
  raw_body_signed: [
    ['the body', BODY, /as it arrived/],
    ['the body with an indentation', JSON.stringify(DATA, null, 2), /indentation/],
    ['the payload', JSON.stringify(DATA.payload), /payload as JSON/],
  ],
  timestamp_signed: [
    ['t.body', `${T}.${BODY}`, /t, "\." and the body as it arrived/],
    ['t:fields', `${T}:${MESSAGE}`, /t, ":" and the fields/],
    ['fields and t', `${MESSAGE}${T}`, /the fields, "" and t/],
  ],
  field_order: [
    ['the alphabet', ALPHABET, /event, internal_reference, merchant.*, transaction_status, transac/],
  ],
  fields_joined: [
    ['a vertical bar', MESSAGE.replaceAll(':', '|'), /"\|"/],
    ['four fields', FOUR, /matches merchant_reference, internal_reference, transaction_type, transaction_s/],
  ],
  field_changed: [
    [
      'the status FAILED',
      MESSAGE.replace('COMPLETED', 'FAILED'),
      /values of transaction_status, such as FAILED/,
    ],
    ['a failed payout', PAYOUT, /event and transaction_type and .*such as transaction.failed PAYOUT FAILED/],
    ['every field in lower-case letters', MESSAGE.toLowerCase(), /every field has lower-case letters/],
  ],
};

/** The merchant reference that was signed, and the one that arrived. */
const REFERENCES: readonly (readonly [signed: string, arrived: string, shows: RegExp])[] = [
  ['ORD-1001 ', 'ORD-1001', /merchant_reference has a space after/],
  [' ORD-1001', 'ORD-1001', /a space before/],
  ['ORD-1001\n', 'ORD-1001', /a line break after/],
  ['ORD-1001', ' ORD-1001\t', /no white space/],
  ['ORD-1001', 'ord-1001', /capital letters/],
  ['ord-1001', 'ORD-1001', /lower-case letters/],
  ['Ord-1001', 'ORD-1001', /one capital letter/],
  ['Caf\u00e9', 'Cafe\u0301', /NFC/],
  ['Cafe\u0301', 'Caf\u00e9', /NFD/],
  ['ORD%2F7', 'ORD/7', /has percent escapes/],
  ['ORD/7 a', 'ORD%2F7+a', /percent escapes decoded/],
];

const old = { id: 'old', key: OTHER_KEY, notAfter: new Date(NOW - 1) };
const rotated = { signingKey: [{ id: 'new', key: SIGNING_KEY }, old] };
const unset = { id: 'unset', key: undefined };
const others = { others: [unset, { id: 'sandbox', key: OTHER_KEY }] };
/** The key that the sender used, when the receiver has SIGNING_KEY. */
const KEYS: Rows<string | Buffer> = {
  expired_key: [['an old key', OTHER_KEY, /"old" that ends in Y0zC/, rotated]],
  other_key: [['the key of the sandbox', OTHER_KEY, /"sandbox" that ends in Y0zC/, others]],
  key_white_space: [
    ['LF at the sender', `${SIGNING_KEY}\n`, /a line feed after it/],
    ['CR and LF at the sender', `${SIGNING_KEY}\r\n`, /CR and LF after it/],
    ['a space after it at the sender', `${SIGNING_KEY} `, /a space after it/],
    ['a space before it at the sender', ` ${SIGNING_KEY}`, /a space before it/],
    ['quotation marks at the sender', `"${SIGNING_KEY}"`, /quotation marks/],
  ],
  key_unset: [
    ['an empty key', '', /the key ""/],
    ['the string undefined', 'undefined', /"undefined"/],
    ['the string null', 'null', /"null"/],
  ],
  public_key: [['the public key at the sender', PUBLIC_KEY, /ends in Df7G/]],
  secret_key: [['the secret key at the sender', SECRET_KEY, /ends in 9Ui3/]],
  key_decoded: [
    ['a key from Base64', decoded, /as Base64/],
    ['a longer key from Base64', decoded, /as Base64/, { signingKey: ODD_KEY }],
    ['a key from hex', Buffer.from(HEX_KEY, 'hex'), /as hex/, { signingKey: HEX_KEY }],
  ],
  unknown_key: [["another account's key", OTHER_KEY, /None of \d{3}/]],
};

/** The key that the receiver has, when the sender used SIGNING_KEY. */
const SETTINGS: Rows<string | undefined> = {
  key_white_space: [
    ['a line feed here', `${SIGNING_KEY}\n`, /without the white space/],
    ['quotation marks here', `'${SIGNING_KEY}'`, /without the white space or quotation marks/],
  ],
  key_encoded: [
    ['the key in Base64 here', Buffer.from(SIGNING_KEY).toString('base64'), /decoded as Base64/],
    ['the key in hex here', Buffer.from(SIGNING_KEY).toString('hex'), /decoded as hex/],
  ],
  public_key: [['the public key here', PUBLIC_KEY, /public key/]],
  secret_key: [['the secret key here', SECRET_KEY, /secret key/]],
  key_invalid: [
    ['a placeholder', '<SIGNING_KEY>', /placeholder/],
    ['an unset variable', undefined, /missing/],
  ],
};

/** What was signed, and with which key. */
export const SIGNERS: readonly Case[] = [
  ...casesOf(MESSAGES, (message) => [signed(BODY, hmac(message))]),
  ...REFERENCES.map(([sent, merchant_reference, shows]): Case => {
    const hash = hmac(MESSAGE.replace('ORD-1001', sent));
    const mistake = `${JSON.stringify(sent)} for ${JSON.stringify(merchant_reference)}`;
    return ['field_changed', mistake, signed(bodyWith({ merchant_reference }), hash), shows];
  }),
  ...casesOf(KEYS, (key) => [signed(BODY, hmac(MESSAGE, key))]),
  ...casesOf(SETTINGS, (signingKey) => [signed(BODY, HASH), { signingKey }]),
  ['raw_body_signed', 'Base64', signed(Buffer.from(BODY), base64(hmac(BODY))), /arrived.*Base64/],
  ['raw_body_signed', 'bytes that are not JSON', signed('hello', hmac('hello')), /as it arrived/],
  ['key_decoded', 'both in Base64', signed(BODY, base64(hmac(MESSAGE, decoded))), /as Base64.*characters of/],
  ['plain_hash', 'a hash with the key before', signed(BODY, sha256(SIGNING_KEY + MESSAGE)), /SHA-256/],
  ['plain_hash', 'a hash without the key', signed(BODY, sha256(MESSAGE)), /SHA-256/],
  ['unknown_key', 'an amount', signed(bodyWith({ request_amount: 5_000_000 }), 'a'.repeat(64)), /None of/],
];

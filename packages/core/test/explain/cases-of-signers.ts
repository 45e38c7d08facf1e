import { NOW } from '../ordinary-verifier.ts';
import { OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
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
const { payload } = DATA;
const bytes = (text: string): Buffer => Buffer.from(text);

/** What was signed, and with which key. */
export const SIGNERS: readonly Case[] = [
  ['raw_body_signed', 'the bytes', signed(bytes(BODY), hmac(BODY)), /as it arrived/],
  [
    'raw_body_signed',
    'the bytes, in Base64',
    signed(BODY, Buffer.from(hmac(BODY), 'hex').toString('base64')),
    /arrived.*Base64/,
  ],
  ['raw_body_signed', 'the payload', signed(DATA, hmac(JSON.stringify(payload))), /payload as JSON/],
  ['raw_body_signed', 'bytes that are no JSON', signed('hello', hmac('hello')), /as it arrived/],
  ['timestamp_signed', 't.body', signed(BODY, hmac(`${T}.${BODY}`)), /t, "\."/],
  ['timestamp_signed', 't:fields', signed(BODY, hmac(`${T}:${MESSAGE}`)), /before/],
  [
    'field_order',
    'the alphabet',
    signed(BODY, hmac(['transaction.completed', 'INT-77', 'ORD-1001', 'COMPLETED', 'COLLECTION'].join(':'))),
    /event, internal_reference, merchant_reference, transaction_status, transaction_type/,
  ],
  ['fields_joined', 'a vertical bar', signed(BODY, hmac(MESSAGE.replaceAll(':', '|'))), /"\|"/],
  [
    'fields_joined',
    'four fields',
    signed(BODY, hmac(MESSAGE.replace('transaction.completed:', ''))),
    /without event/,
  ],
  [
    'field_changed',
    'trimming',
    signed(BODY, hmac(MESSAGE.replace('ORD-1001', 'ORD-1001 '))),
    /merchant_reference has a space after/,
  ],
  [
    'field_changed',
    'upper case',
    signed(bodyWith({ transaction_type: 'Collection' }), hmac(MESSAGE)),
    /transaction_type has capital/,
  ],
  [
    'field_changed',
    'NFC',
    signed(bodyWith({ merchant_reference: 'Cafe\u0301' }), hmac(MESSAGE.replace('ORD-1001', 'Caf\u00e9'))),
    /NFC/,
  ],
  [
    'field_changed',
    'NFD',
    signed(bodyWith({ merchant_reference: 'Caf\u00e9' }), hmac(MESSAGE.replace('ORD-1001', 'Cafe\u0301'))),
    /NFD/,
  ],
  ['plain_hash', 'a hash with the key before', signed(BODY, sha256(SIGNING_KEY + MESSAGE)), /SHA-256/],
  [
    'expired_key',
    'an old key',
    signed(BODY, hmac(MESSAGE, OTHER_KEY)),
    /"old" that ends in Y0zC/,
    {
      signingKey: [
        { id: 'new', key: SIGNING_KEY },
        { id: 'old', key: OTHER_KEY, notAfter: new Date(NOW - 1) },
      ],
    },
  ],
  [
    'other_key',
    'the key of the sandbox',
    signed(BODY, hmac(MESSAGE, OTHER_KEY)),
    /"sandbox" that ends in Y0zC/,
    {
      others: [
        { id: 'unset', key: undefined },
        { id: 'sandbox', key: OTHER_KEY },
      ],
    },
  ],
  [
    'key_white_space',
    'a line feed at the sender',
    signed(BODY, hmac(MESSAGE, `${SIGNING_KEY}\n`)),
    /a line feed after it/,
  ],
  [
    'key_white_space',
    'quotation marks at the sender',
    signed(BODY, hmac(MESSAGE, `"${SIGNING_KEY}"`)),
    /quotation marks/,
  ],
  [
    'key_white_space',
    'a line feed here',
    signed(BODY, HASH),
    /without the white space/,
    { signingKey: `${SIGNING_KEY}\n` },
  ],
  ['key_unset', 'an empty key', signed(BODY, hmac(MESSAGE, '')), /the key ""/],
  ['key_unset', 'the string undefined', signed(BODY, hmac(MESSAGE, 'undefined')), /"undefined"/],
  ['public_key', 'the public key at the sender', signed(BODY, hmac(MESSAGE, PUBLIC_KEY)), /ends in Df7G/],
  ['public_key', 'the public key here', signed(BODY, HASH), /public key/, { signingKey: PUBLIC_KEY }],
  ['secret_key', 'the secret key at the sender', signed(BODY, hmac(MESSAGE, SECRET_KEY)), /ends in 9Ui3/],
  ['secret_key', 'the secret key here', signed(BODY, HASH), /secret key/, { signingKey: SECRET_KEY }],
  [
    'key_decoded',
    'a key from Base64',
    signed(BODY, hmac(MESSAGE, Buffer.from(SIGNING_KEY, 'base64'))),
    /Base64 decoding/,
  ],
  [
    'key_decoded',
    'a key from Base64, and the digest in Base64',
    signed(BODY, Buffer.from(hmac(MESSAGE, Buffer.from(SIGNING_KEY, 'base64')), 'hex').toString('base64')),
    /decoding.*characters of Base64/,
  ],
  [
    'key_decoded',
    'a key from hex',
    signed(BODY, hmac(MESSAGE, Buffer.from('a1'.repeat(16), 'hex'))),
    /hex decoding/,
    { signingKey: 'a1'.repeat(16) },
  ],
  ['key_invalid', 'a placeholder', signed(BODY, HASH), /placeholder/, { signingKey: '<SIGNING_KEY>' }],
  ['key_invalid', 'an unset variable', signed(BODY, HASH), /missing/, { signingKey: undefined }],
  ['unknown_key', "another account's key", signed(BODY, hmac(MESSAGE, OTHER_KEY)), /None of \d{3}/],
  [
    'unknown_key',
    'an amount is no reason',
    signed(bodyWith({ request_amount: 5_000_000 }), 'a'.repeat(64)),
    /None of/,
  ],
];

import { sampleCallback } from '../src/testing.ts';

/**
 * Literal signatures, made with `openssl dgst -sha256 -mac HMAC` like those of openapi/signature-vectors.json, and the
 * callback that they belong to. No signature here is computed by the code under test.
 */
export const SIGNING_KEY = 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e';
export const OTHER_KEY = 'aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zC';
/** 2023-11-14T22:13:20Z, the `t` of every signature here, in seconds. */
export const T = 1_700_000_000;

/** s over transaction.completed : <merchant_reference> : INT-77 : COLLECTION : COMPLETED, under SIGNING_KEY. */
const HASHES = {
  'ORD-1001': 'f415e80ad4143fa1b289616788c1b320a42e99d43f45603739026305d5b12965',
  'A:B': 'e8fd3090ff7797f8c648820a4a09ac821f4eea253529e44398f53ac2f94e439f',
  'ORD-9999:x': '34aa3e71f3df360fa17d70d0ffbf3f61e7ffe33c1b252ccdbf0c19da00030bd3',
  '\ufffd': 'af03968d5899cab5a5a6b4f298fdf2cc62090ab5af1cd0d5052c97cde6350624',
} as const;

export const HASH: string = HASHES['ORD-1001'];
/** The ordinary callback's s under OTHER_KEY. */
export const HASH_OF_OTHER_KEY = 'c41f38dddc116929dc3edce372fe1fee39537d2dad346cbc966a4df529e9da1b';

/** hmac-signature for the ordinary callback with this merchant_reference. */
export function signatureFor(reference: keyof typeof HASHES, t: string | number = T): string {
  return `t=${t},s=${HASHES[reference]}`;
}

export const SIGNATURE: string = signatureFor('ORD-1001');

/** The ordinary callback, its payload changed. */
export const callbackData = (
  payload: Record<string, unknown> = {},
): { event: string; payload: Record<string, unknown> } => sampleCallback({ payload });

/** The ordinary redirect's query. */
export const QUERY: string =
  'event=transaction.completed&merchant_reference=ORD-1001&internal_reference=INT-77' +
  `&transaction_type=COLLECTION&transaction_status=COMPLETED&hmac_signature=${SIGNATURE}`;

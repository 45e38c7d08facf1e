/**
 * Literal signatures, made with `openssl dgst -sha256 -mac HMAC` like those of openapi/signature-vectors.json, and the
 * callback that they belong to. Nothing here is computed by the code under test.
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
  'A B': 'fb6db085a3ae163cf25cec314f40dd16ce9a76cfa3501be1cf87cdfa1dc07d7e',
  undefined: '36b20144049adb91b4a3e45b46711381b757f73cc70394cd06aec70807d2f84b',
  '1001': '4e64d82920c98798c1a5bb5e7cb30cf2c5a405c8cb47eeb182c15805f0ac09b0',
  '\ufffd': 'af03968d5899cab5a5a6b4f298fdf2cc62090ab5af1cd0d5052c97cde6350624',
  'Caf\u00e9': 'c2a027e30aab94125026ae59eebb3a0fd1a15a69a604fb687d2c60cb99444001',
  'Cafe\u0301': '0dbdafcf3029ce1f2eff42fc1eb19d72518c9228b13cf2354d33fb41d85f2e4e',
  '': '6f55371fc0e69f78600d8fd67db50f692c8b4f6466d0d43436e5c64ef5095aa3',
} as const;

export const HASH: string = HASHES['ORD-1001'];
/** The ordinary callback's s under OTHER_KEY. */
export const HASH_OF_OTHER_KEY = 'c41f38dddc116929dc3edce372fe1fee39537d2dad346cbc966a4df529e9da1b';
/** The ordinary callback's s under an empty key, which needs no secret. */
export const HASH_OF_EMPTY_KEY = '930fd1216a6c03b14d94ca5315787c308635f9530af6e7e9771c32638ca38291';

/** hmac-signature for the ordinary callback with this merchant_reference. */
export function signatureFor(reference: keyof typeof HASHES, t: string | number = T): string {
  return `t=${t},s=${HASHES[reference]}`;
}

export const SIGNATURE: string = signatureFor('ORD-1001');

/** The ordinary callback, its payload changed. */
export function callbackData(payload: Record<string, unknown> = {}): {
  event: string;
  payload: Record<string, unknown>;
} {
  return {
    event: 'transaction.completed',
    payload: {
      id: 1001,
      merchant_reference: 'ORD-1001',
      internal_reference: 'INT-77',
      transaction_type: 'COLLECTION',
      request_currency: 'UGX',
      request_amount: 500,
      transaction_currency: 'UGX',
      transaction_amount: 500,
      transaction_charge: 15,
      transaction_account: '256772000001',
      customer_name: 'Example Customer',
      charge_customer: false,
      total_credit: 485,
      provider_code: 'example_mobile_money',
      transaction_status: 'COMPLETED',
      status_message: 'Transaction completed successfully',
      ...payload,
    },
  };
}

/** The ordinary redirect's query. */
export const QUERY: string =
  'event=transaction.completed&merchant_reference=ORD-1001&internal_reference=INT-77' +
  `&transaction_type=COLLECTION&transaction_status=COMPLETED&hmac_signature=${SIGNATURE}`;

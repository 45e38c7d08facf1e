import type { TransactionCallback } from '@payment-service/core';
import { sampleCallback } from '@payment-service/core/testing';
import { redirectLocation, type Signer, signedFieldsOf } from '../deliveries/callback-data.ts';
import type { HeaderPair } from '../state/records.ts';

/** The request of one case. */
export interface CheckMessage {
  readonly method?: 'GET';
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/**
 * `accept`: anything but 2xx is wrong. `prefer`: 2xx is right; a refusal would lose genuine callbacks of some senders.
 * `either`: the signature is valid, so 2xx is not a mistake; what the endpoint does with the callback decides. `refuse`: 2xx is
 * wrong. `aside`: a refusal is right, and so is 2xx if the callback is kept for an operator and credits nothing.
 */
export type Expected = 'accept' | 'prefer' | 'either' | 'refuse' | 'aside';

export interface CheckCase {
  readonly name: string;
  readonly title: string;
  readonly expected: Expected;
  /** What to do if the endpoint responds differently; for `either`, what to verify. */
  readonly fix: string;
  readonly message: (make: Maker) => CheckMessage;
}

/** The callback of one case, with its own references, and ways to write and sign it. */
export interface Maker {
  readonly data: TransactionCallback;
  /** Digits only. */
  readonly number: string;
  sign(data: TransactionCallback, signing?: Parameters<Signer>[2]): string;
}

/** @param number Digits that no other case uses. */
export function makerOf(sign: Signer, now: number, number: string): Maker {
  const references = { merchant_reference: `CHECK-${number}`, internal_reference: `SBX-CHECK-${number}` };
  return {
    number,
    data: sampleCallback({ payload: { ...references, id: Number(number) } }),
    sign: (data, signing) => sign(signedFieldsOf(data), now, signing),
  };
}

const DAY_SECONDS = 86_400;
/** Twice the size that a receiver must accept. */
const TOO_LARGE = 128 * 1024;

const post = (data: unknown, signature: string | undefined, type = 'application/json'): CheckMessage => ({
  headers: [
    ['content-type', type],
    ...(signature === undefined ? [] : [['hmac-signature', signature] as const]),
  ],
  body: typeof data === 'string' ? data : JSON.stringify(data),
});

const withPayload = (data: TransactionCallback, changes: object): TransactionCallback => ({
  ...data,
  payload: { ...data.payload, ...changes },
});

/** Signs what it sends. */
const genuine = ({ data, sign }: Maker): CheckMessage => post(data, sign(data));
const changed =
  (change: (data: TransactionCallback) => TransactionCallback) =>
  ({ data, sign }: Maker): CheckMessage =>
    post(change(data), sign(change(data)));

const expecting = (
  expected: Expected,
  cases: Readonly<Record<string, Omit<CheckCase, 'name' | 'expected'>>>,
): CheckCase[] => Object.entries(cases).map(([name, one]) => ({ name, expected, ...one }));

/** In the order in which they are posted: first the cases whose failure explains all others. */
export const checkCases: readonly CheckCase[] = [
  ...expecting('accept', {
    genuine: {
      title: 'A genuine callback',
      fix: 'Answer 2xx as soon as the callback is verified and stored, also for a reference that you do not know.',
      message: genuine,
    },
    twice: {
      title: 'The same callback twice',
      fix: 'Acknowledge a repeat like the first one, and credit once. Any answer but 2xx makes a sender repeat it again.',
      message: genuine,
    },
    extra_field: {
      title: 'A new field',
      fix: 'Ignore fields that you do not know: the service can add one.',
      message: changed((data) => withPayload(data, { added_field: 'new' })),
    },
    key_order: {
      title: 'The fields in another order',
      fix: 'Verify the five signed fields, not the bytes of the body: JSON has no order.',
      message: ({ data, sign }) =>
        post(
          { payload: Object.fromEntries(Object.entries(data.payload).reverse()), event: data.event },
          sign(data),
        ),
    },
    white_space: {
      title: 'JSON with white space',
      fix: 'Verify the five signed fields, not the bytes of the body.',
      message: ({ data, sign }) => post(JSON.stringify(data, null, 2), sign(data)),
    },
    unknown_event: {
      title: 'An undocumented event',
      fix: 'Answer 2xx and do nothing: not all events are documented, and a refusal makes a sender repeat it.',
      message: changed((data) => ({ ...data, event: 'transaction.reviewed' })),
    },
    unknown_status: {
      title: 'An undocumented status',
      fix: 'Answer 2xx and credit nothing: only COMPLETED means that the money has moved.',
      message: changed((data) => withPayload(data, { transaction_status: 'REVIEWED' })),
    },
  }),
  ...expecting('prefer', {
    old_t: {
      title: 't from yesterday',
      fix: 'Turn the tolerance off: t is not signed, so it stops no replay, and a retry that keeps its first t is lost.',
      message: ({ data, sign }) => post(data, sign(data, { offsetSeconds: -DAY_SECONDS })),
    },
    t_milliseconds: {
      title: 't in milliseconds',
      fix: 'Read t in both units: the unit is not documented, and t is not signed.',
      message: ({ data, sign }) => post(data, sign(data, { unit: 'milliseconds' })),
    },
  }),
  ...expecting('either', {
    forged_amount: {
      title: 'Another amount under a valid signature',
      fix: 'Make sure that it credited nothing: the signature does not cover the amount. Compare it with your order, for example with assertAmount().',
      message: ({ data, sign }) =>
        post(withPayload(data, { request_amount: 1, transaction_amount: 1, total_credit: 1 }), sign(data)),
    },
  }),
  ...expecting('refuse', {
    wrong_key: {
      title: 'Signed with another key',
      fix: 'Verify the signature before anything else, and answer 401: now every sender can report a payment.',
      message: ({ data, sign }) => post(data, sign(data, { key: 'other' })),
    },
    no_signature: {
      title: 'Without a signature',
      fix: 'Refuse a request without hmac-signature: a missing header must not skip the verification.',
      message: ({ data }) => post(data, undefined),
    },
    changed_status: {
      title: 'FAILED changed to COMPLETED',
      fix: 'Sign all five fields of the body that arrived, transaction_status included.',
      message: ({ data, sign }) => post(data, sign(withPayload(data, { transaction_status: 'FAILED' }))),
    },
    joined_signature: {
      title: 'Two signatures in one header',
      fix: 'Accept exactly one t and one s: a repeated header arrives joined, and two parsers could read two values.',
      message: ({ data, sign }) => post(data, `${sign(data, { key: 'other' })}, ${sign(data)}`),
    },
    uppercase_hex: {
      title: 'The hash in upper case',
      fix: 'Accept exactly 64 lower-case digits: lenient decoders also accept strings that are not hashes.',
      message: ({ data, sign }) =>
        post(
          data,
          sign(data).replace(/[0-9a-f]{64}$/, (hash) => hash.toUpperCase()),
        ),
    },
    number_field: {
      title: 'A signed field as a number',
      fix: 'Refuse a signed field that is not a string: 1001 and "1001" would share a signature.',
      message: ({ data, number, sign }) =>
        post(
          { ...data, payload: { ...data.payload, merchant_reference: Number(number) } },
          sign(withPayload(data, { merchant_reference: number })),
        ),
    },
  }),
  ...expecting('aside', {
    moved_colon: {
      title: "':' moved between the references",
      fix: "Refuse ':' in the references, or put the callback aside: it separates the signed fields, so one signature verifies for two readings. Credit nothing.",
      message: ({ data, number, sign }) =>
        post(
          withPayload(data, { merchant_reference: `CHECK:${number}`, internal_reference: 'SBX:1' }),
          sign(withPayload(data, { merchant_reference: 'CHECK', internal_reference: `${number}:SBX:1` })),
        ),
    },
  }),
  ...expecting('refuse', {
    redirect_signature: {
      title: "The customer's redirect, posted",
      fix: 'Read the fields from a JSON body with event and payload only: customers hold the query of their redirect.',
      message: ({ data, sign }) => {
        const { search } = new URL(redirectLocation('http://127.0.0.1/', data, sign(data)));
        return post(search.slice(1), sign(data), 'application/x-www-form-urlencoded');
      },
    },
    not_json: {
      title: 'A body that is not JSON',
      fix: 'Answer 400 or 401 when the body is not a JSON object. An exception must not become 2xx or 5xx.',
      message: ({ data, sign }) => post('{"event":', sign(data)),
    },
    empty_body: {
      title: 'An empty body',
      fix: 'Answer 400 or 401 when there is no body.',
      message: ({ data, sign }) => post('', sign(data)),
    },
    too_large: {
      title: 'A body of 128 KiB',
      fix: 'Limit the body to 64 KiB and answer 413: every sender can reach this route.',
      message: ({ data, sign }) =>
        post(withPayload(data, { customer_name: 'x'.repeat(TOO_LARGE) }), sign(data)),
    },
    wrong_method: {
      title: 'GET in place of POST',
      fix: 'Answer 405 to every method but POST.',
      message: ({ data, sign }) => ({ method: 'GET', headers: [['hmac-signature', sign(data)]], body: '' }),
    },
  }),
];

import type { TransactionCallback } from '@payment-service/core';
import { sampleCallback } from '@payment-service/core/testing';
import { redirectLocation } from '../deliveries/callback-data.ts';
import { changedContent, contentOf } from '../deliveries/composition.ts';
import type { Moment } from '../deliveries/unit-of-work.ts';
import type { Misbehaviour } from '../state/misbehaviour.ts';
import type { HeaderPair } from '../state/records.ts';

/** The request of one case. */
export interface CheckMessage {
  readonly method: 'GET' | 'POST';
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/**
 * `accept`: anything but 2xx is wrong. `prefer`: 2xx is right; a refusal would lose genuine callbacks of some senders.
 * `either`: the signature is valid, so 2xx is not a mistake; what the endpoint does with the callback decides. `refuse`: 2xx is
 * wrong. `aside`: a refusal is right, and so is 2xx if the callback is kept for an operator and credits nothing.
 */
export type Expected = 'accept' | 'prefer' | 'either' | 'refuse' | 'aside';

/** One case: a genuine callback, unless it says what differs. */
export interface CheckCase {
  readonly name: string;
  readonly title: string;
  readonly expected: Expected;
  /** What to do if the endpoint responds differently; for `either`, what to verify. */
  readonly fix: string;
  /** What the endpoint should answer, if that differs from the answer for `expected`. */
  readonly answer?: string;
  /** Further statuses that count as a refusal of this case. */
  readonly refusals?: readonly number[];
  /** Whether a connection that is closed before the answer counts as a refusal. */
  readonly mayBeClosed?: boolean;
  readonly changes?: Misbehaviour;
  /** The payload that is signed, and the one that is sent under this signature. @param number Digits that no other case uses. */
  readonly readings?: (number: string) => readonly [signed: object, sent: object];
  /** How the callback is written, if not as JSON without white space. */
  readonly body?: (data: TransactionCallback, signature: string) => string;
  /** @default 'application/json' */
  readonly type?: string;
  /** What is sent in place of the signature. @param other Another account's signature of the same fields. */
  readonly signature?: (signature: string, other: string) => string | undefined;
  /** @default 'POST' */
  readonly method?: 'GET' | 'POST';
}

/** @param number Digits that no other case uses. */
export function messageOf(
  { changes = {}, readings, method = 'POST', type = 'application/json', ...one }: CheckCase,
  moment: Pick<Moment, 'sign' | 'now'>,
  number: string,
): CheckMessage {
  const references = { merchant_reference: `CHECK-${number}`, internal_reference: `SBX-CHECK-${number}` };
  const [signed, sent] = readings?.(number) ?? [];
  const genuine = sampleCallback({ payload: { ...references, id: Number(number), ...signed } });
  const content = changedContent(moment, {
    genuine,
    base: contentOf(moment, genuine),
    changes: sent === undefined ? changes : { extra_fields: { ...sent }, signature: 'keep' },
  });
  const other = moment.sign(content.signed, moment.now, { key: 'other' });
  const signature = one.signature === undefined ? content.signature : one.signature(content.signature, other);
  return {
    method,
    headers: [
      ...(method === 'GET' ? [] : [['content-type', type] as const]),
      ...(signature === undefined ? [] : [['hmac-signature', signature] as const]),
    ],
    body: one.body?.(genuine, content.signature) ?? content.body,
  };
}

const DAY_SECONDS = 86_400;
/** Twice the size that a receiver must accept. */
const TOO_LARGE = 128 * 1024;

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
    },
    twice: {
      title: 'The same callback twice',
      fix: 'Acknowledge a repeat like the first callback, and credit once. After any answer but 2xx, a sender repeats it.',
    },
    extra_field: {
      title: 'A new field',
      fix: 'Ignore fields that you do not know: the service can add fields.',
      changes: { extra_fields: { added_field: 'new' } },
    },
    key_order: {
      title: 'The fields in another order',
      fix: 'Verify the five signed fields, not the bytes of the body: JSON objects have no order.',
      body: ({ event, payload }) =>
        JSON.stringify({ payload: Object.fromEntries(Object.entries(payload).reverse()), event }),
    },
    white_space: {
      title: 'JSON with white space',
      fix: 'Verify the five signed fields, not the bytes of the body.',
      body: (data) => JSON.stringify(data, null, 2),
    },
    unknown_event: {
      title: 'An undocumented event',
      fix: 'Answer 2xx and do nothing: not all events are documented, and a refusal makes a sender repeat it.',
      changes: { event: 'transaction.reviewed' },
    },
    unknown_status: {
      title: 'An undocumented status',
      fix: 'Answer 2xx and credit nothing: only COMPLETED means that the money has moved.',
      changes: { status: 'REVIEWED' },
    },
  }),
  ...expecting('prefer', {
    old_t: {
      title: 't from yesterday',
      fix: 'Turn the tolerance off: t is not signed, so a tolerance stops no replay, and it loses a retry that keeps its first t.',
      changes: { t_offset_seconds: -DAY_SECONDS },
    },
    t_milliseconds: {
      title: 't in milliseconds',
      fix: 'Read t in both units: the unit is not documented, and t is not signed.',
      changes: { t_unit: 'milliseconds' },
    },
  }),
  ...expecting('either', {
    forged_amount: {
      title: 'Another amount under a valid signature',
      fix: 'Make sure that nothing was credited: the signature does not cover the amount. Compare the amount with your order, for example with assertAmount().',
      changes: { extra_fields: { request_amount: 1, transaction_amount: 1, total_credit: 1 } },
    },
  }),
  ...expecting('refuse', {
    wrong_key: {
      title: 'Signed with another key',
      fix: 'Verify the signature before anything else, and answer 401 if it is wrong: otherwise anyone can report a payment.',
      changes: { bad_signature: true },
    },
    no_signature: {
      title: 'Without a signature',
      fix: 'Refuse a request without hmac-signature: a missing header must not skip the verification.',
      signature: () => undefined,
    },
    changed_status: {
      title: 'FAILED changed to COMPLETED',
      fix: 'Verify all five fields of the body that arrived, including transaction_status.',
      readings: () => [{ transaction_status: 'FAILED' }, { transaction_status: 'COMPLETED' }],
    },
    joined_signature: {
      title: 'Two signatures in one header',
      fix: 'Accept exactly one t and one s: a repeated header arrives joined, and two parsers could read different values.',
      signature: (signature, other) => `${other}, ${signature}`,
    },
    uppercase_hex: {
      title: 'The hash in upper case',
      fix: 'Accept exactly 64 lower-case digits: lenient decoders also accept strings that are not hashes.',
      signature: (signature) => signature.replace(/[0-9a-f]{64}$/, (hash) => hash.toUpperCase()),
    },
    number_field: {
      title: 'A signed field as a number',
      fix: 'Refuse a signed field that is not a string: 1001 and "1001" would share a signature.',
      readings: (number) => [{ merchant_reference: number }, { merchant_reference: Number(number) }],
    },
  }),
  ...expecting('aside', {
    moved_colon: {
      title: "':' moved between the references",
      fix: "Refuse ':' in the references, or set the callback aside, and credit nothing: ':' separates the signed fields, so one signature verifies two readings.",
      readings: (number) => [
        { merchant_reference: 'CHECK', internal_reference: `${number}:SBX:1` },
        { merchant_reference: `CHECK:${number}`, internal_reference: 'SBX:1' },
      ],
    },
  }),
  ...expecting('refuse', {
    redirect_signature: {
      title: "The customer's redirect, posted",
      fix: 'Read the fields from a JSON body with event and payload only: customers can copy the query of their redirect.',
      type: 'application/x-www-form-urlencoded',
      body: (data, signature) =>
        new URL(redirectLocation('http://127.0.0.1/', data, signature)).search.slice(1),
    },
    not_json: {
      title: 'A body that is not JSON',
      fix: 'Answer 400 or 401 when the body is not a JSON object. An exception must not become 2xx or 5xx.',
      changes: { body: '{"event":' },
    },
    empty_body: {
      title: 'An empty body',
      fix: 'Answer 400 or 401 when there is no body.',
      changes: { body: '' },
    },
    too_large: {
      title: 'A body of 128 KiB',
      fix: 'Limit the body to 64 KiB and answer 413: anyone can reach this route.',
      answer: '413',
      mayBeClosed: true,
      changes: { extra_fields: { customer_name: 'x'.repeat(TOO_LARGE) } },
    },
    wrong_method: {
      title: 'GET in place of POST',
      fix: 'Answer 405 to every method but POST.',
      answer: '405, 404 or 401',
      refusals: [404, 405],
      method: 'GET',
      body: () => '',
    },
  }),
];

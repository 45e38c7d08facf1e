import { prepareKey } from '#digest';
import { ConfigurationError, NotFoundError } from './errors.ts';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
  STRING,
} from './options/options.ts';
import { ownValue } from './verify/callback-body.ts';
import { createVerifier, type VerifierOptions } from './verify/create-verifier.ts';
import {
  readSignedFields,
  signedMessage,
  type TransactionCallback,
  type TransactionPayload,
} from './verify/signed-fields.ts';
import { prepareSigningKeys } from './verify/signing-keys.ts';
import type { VerifiedCallback } from './verify/verified.ts';

/**
 * Signs callback data as the service does (protocol §5.2), for tests and for the sandbox.
 *
 * @param options.timestamp The value of `t`, which is not signed. @default the current time in seconds
 * @returns The value of `hmac-signature`: `t=<timestamp>,s=<hmac_hash>`.
 * @throws {ConfigurationError} When the key is invalid or a signed field is not a well-formed string.
 *
 * @example
 * const data = sampleCallback();
 * const signature = signCallback({ signingKey: 'TEST4SIGNING4KEY', data });
 */
export function signCallback(options: {
  readonly signingKey: string;
  readonly data: { readonly event: string; readonly payload: object };
  readonly timestamp?: number | string | undefined;
}): string {
  checkOptions('signCallback()', options, SIGN_RULES);
  const { signingKey, data, timestamp = Math.floor(Date.now() / 1000) } = options;
  prepareSigningKeys({ signingKey, allowSandboxKeys: true }); // Signing is not trusting.
  const signed = readSignedFields((name) => ownValue(name === 'event' ? data : data.payload, name));
  if (signed === undefined) {
    const message = 'data must have event and payload, with all five signed fields as well-formed strings.';
    throw new ConfigurationError('data', message);
  }
  return `t=${timestamp},s=${prepareKey(signingKey)(signedMessage(signed))}`;
}

const SIGN_RULES: OptionRules<Parameters<typeof signCallback>[0]> = {
  signingKey: undefined,
  data: [
    (data) => typeof Object(data).payload === 'object' && Object(data).payload !== null,
    '{ event, payload }',
    true,
  ],
  timestamp: [(t) => typeof t === 'string' || typeof t === 'number', 'a number or a string'],
};

/**
 * Returns a complete callback of a completed collection, with the 16 payload fields of protocol §2.5.
 *
 * @throws {ConfigurationError} When `overrides` is not an object.
 *
 * @example
 * sampleCallback({ payload: { merchant_reference: 'ORD-7', request_amount: 900, transaction_amount: 900 } });
 */
export function sampleCallback(
  overrides: {
    readonly event?: string | undefined;
    readonly payload?: (Partial<TransactionPayload> & Record<string, unknown>) | undefined;
  } = {},
): TransactionCallback {
  checkArgument('sampleCallback()', 'overrides', overrides, RECORD);
  return {
    event: overrides.event ?? 'transaction.completed',
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
      ...overrides.payload,
    },
  };
}

/** What `deliver()` needs. Every inbox of `@payment-service/inbox` provides it. */
export interface DeliverTo<Payment> {
  readonly route: Pick<VerifierOptions, 'account' | 'colonIn'> & {
    readonly onCallback: (callback: VerifiedCallback) => Promise<void>;
  };
  readonly drain: () => Promise<unknown>;
  readonly payment: (reference: string, type?: string) => Promise<Payment | undefined>;
}

/** What the callback of `deliver()` reports. */
export interface DeliveredReport {
  readonly merchant_reference: string;
  /** Both amounts of the callback, in whole units of the currency. */
  readonly amount: number;
  /** Both currencies of the callback. @default 'UGX' */
  readonly currency?: string | undefined;
  /** The signed transaction_status. @default 'COMPLETED' */
  readonly status?: string | undefined;
  /** The signed event. @default 'transaction.completed' */
  readonly event?: string | undefined;
  /**
   * Any other fields. @default those of `sampleCallback()`, with an internal_reference derived from the merchant_reference, so that
   * a second report of a payment is about the same transaction
   */
  readonly payload?: Partial<TransactionPayload> | undefined;
}

/**
 * Delivers a callback to an inbox without HTTP, runs its handlers and returns the payment, for handler tests. The callback is
 * signed and verified like a genuine one, with a separate key. If the handler throws, the payment is still open and its report has
 * `lastError`.
 *
 * @throws {ConfigurationError} Names what is wrong: `handler` if the inbox has none.
 * @throws {NotFoundError} If the inbox has no payment with this reference.
 *
 * @example
 * const inbox = createInbox({ store: sqlite('test.db') });
 * inbox.handle('paid', credit);
 * await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
 * const { state } = await deliver(inbox, { merchant_reference: 'ORD-1', amount: 500 });
 * expect(state).toBe('paid');
 */
export async function deliver<Payment>(inbox: DeliverTo<Payment>, report: DeliveredReport): Promise<Payment> {
  checkArgument('deliver()', 'inbox', inbox, INBOX);
  checkOptions('deliver()', report, REPORT_RULES);
  const { merchant_reference, amount, currency = 'UGX', status = 'COMPLETED', event, payload } = report;
  const data = sampleCallback({
    event,
    payload: {
      merchant_reference,
      // Without a colon, which would allow two readings of the signature.
      internal_reference: `INT-${merchant_reference.replaceAll(':', '-')}`,
      request_currency: currency,
      request_amount: amount,
      transaction_currency: currency,
      transaction_amount: amount,
      transaction_status: status,
      ...payload,
    },
  });
  const { account, colonIn, onCallback } = inbox.route;
  const verifier = createVerifier({ signingKey: DELIVERY_KEY, account, colonIn });
  const verified = verifier.verifyCallback({
    signature: signCallback({ signingKey: DELIVERY_KEY, data }),
    body: JSON.stringify(data),
  });
  if (!verified.ok)
    throw new ConfigurationError('report', `deliver(): a route would refuse this callback. ${verified.hint}`);
  await onCallback(verified);
  await inbox.drain();
  const { merchant_reference: reference, transaction_type: type } = data.payload;
  const payment = await inbox.payment(reference, type);
  if (payment === undefined)
    throw new NotFoundError('deliver(): the inbox has no payment of this reference.');
  return payment;
}

/** Known to every reader of this file, so it proves nothing. But only a program that has the inbox can call `deliver()`. */
const DELIVERY_KEY = 'TEST4DELIVERY4KEY';

const INBOX: OptionRule = [
  (value) => {
    const { route, drain, payment } = Object(value);
    return [Object(route).onCallback, drain, payment].every((member) => typeof member === 'function');
  },
  'the inbox that createInbox() returns',
];

const REPORT_RULES: OptionRules<DeliveredReport> = {
  merchant_reference: [STRING[0], STRING[1], true],
  amount: [(value) => Number.isFinite(value), 'a number', true],
  currency: STRING,
  status: STRING,
  event: STRING,
  payload: RECORD,
};

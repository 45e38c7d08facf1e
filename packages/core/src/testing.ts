import { prepareKey } from '#digest';
import { ConfigurationError } from './errors.ts';
import { checkArgument, checkOptions, type OptionRules, RECORD } from './options/options.ts';
import { ownValue } from './verify/callback-body.ts';
import {
  readSignedFields,
  signedMessage,
  type TransactionCallback,
  type TransactionPayload,
} from './verify/signed-fields.ts';
import { prepareSigningKeys } from './verify/signing-keys.ts';

/**
 * Signs callback data as the service does (protocol §5.2): for tests and for the sandbox.
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
  prepareSigningKeys({ signingKey, allowSandboxKeys: true }); // To sign is not to trust.
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
 * A complete callback of a completed collection, with the 16 payload fields of protocol §2.5.
 *
 * @throws {ConfigurationError} When `overrides` is not an object.
 *
 * @example
 * sampleCallback({ payload: { merchant_reference: 'ORD-7', request_amount: 900, transaction_amount: 900 } });
 */
export function sampleCallback(
  overrides: {
    readonly event?: string;
    readonly payload?: Partial<TransactionPayload> & Record<string, unknown>;
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

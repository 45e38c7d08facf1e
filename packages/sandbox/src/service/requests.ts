import * as z from 'zod';
import { compositionSchema, misbehaviourSchema } from '../deliveries/misbehaviours.ts';
import { address, text } from '../state/fields.ts';
import type { ComposedChanges, Misbehaviour } from '../state/misbehaviour.ts';
import type { Settings, TransactionMode } from '../state/records.ts';
import { SandboxRefusal } from '../state/refusal.ts';
import { type RetryRules, type RetrySettings, retryRules } from '../state/retries.ts';
import type { Release } from './ledger.ts';
import type { BankChange, ProviderChange } from './providers.ts';

/** What a collection and a payout have in common; the body of the request in wire data. */
interface TransactionRequest {
  readonly merchant_reference: string;
  /** In whole units of the currency, exact: at most as many decimals as the currency has. */
  readonly amount: number;
  readonly currency: string;
  readonly provider_code: string;
  /** The account or mobile number of the customer. Never a real card number. */
  readonly account: string;
  readonly customer_name?: string | undefined;
  /** Where the callback goes; the sandbox's `callbackUrl` otherwise. Without either, none is sent. */
  readonly callback_url?: string | undefined;
  /** How it ends in mode `direct`. */
  readonly outcome?: Outcome | undefined;
  /** In place of the sandbox's own setting: `{}` behaves, whatever that setting is. */
  readonly misbehave?: Misbehaviour | undefined;
  /** On top of the sandbox's own setting. */
  readonly retry?: RetrySettings | undefined;
}

export type Outcome = 'completed' | 'failed';

/** The body of POST /sandbox/collections. Simulated: the service's own request is not shown. */
export interface CollectionRequest extends TransactionRequest {
  /** True: the customer pays the charge on top, and `total_credit` is the whole amount. Our choice: not shown. */
  readonly charge_customer?: boolean | undefined;
  /** Where the customer's browser comes back to. */
  readonly redirect_url?: string | undefined;
  /**
   * `page`: the customer decides on the payment page (the default with `redirect_url`). `direct`: decided immediately, by
   * `outcome` (the default without). `pending`: decided later, by POST /sandbox/transactions/:id/outcome.
   */
  readonly mode?: TransactionMode | undefined;
}

/** The body of POST /sandbox/payouts. Simulated: the service's own request is not shown. */
export interface PayoutRequest extends TransactionRequest {
  /** Required where the provider pays out to banks (protocol §2.3). */
  readonly bank_code?: string | undefined;
  readonly mode?: 'direct' | 'pending' | undefined;
}

/** The body of POST /sandbox/transfers: from MERCHANT_COLLECTION to MERCHANT_PAYOUT. */
export interface TransferRequest {
  readonly currency: string;
  readonly amount: number;
}

const outcome = z.enum(['completed', 'failed']);
const link = address.refine(
  (text) => /^https?:\/\//i.test(text) && URL.canParse(text) && text.includes('{merchant_reference}'),
  'must be an http or https address with {merchant_reference}',
);
const transaction = {
  merchant_reference: text,
  amount: z.number().positive(),
  currency: text,
  provider_code: text,
  account: text,
  customer_name: text.optional(),
  callback_url: address.optional(),
  outcome: outcome.optional(),
  misbehave: misbehaviourSchema.optional(),
  retry: retryRules.optional(),
};
const collection = z.strictObject({
  ...transaction,
  charge_customer: z.boolean().optional(),
  redirect_url: address.optional(),
  mode: z.enum(['page', 'direct', 'pending']).optional(),
});
const payout = z.strictObject({
  ...transaction,
  bank_code: text.optional(),
  mode: z.enum(['direct', 'pending']).optional(),
});
const transfer = z.strictObject({ currency: text, amount: z.number().positive() });

/** Reads a request, or throws a SandboxRefusal with status 400 that names the field and what it must be. */
function read<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].join('.');
  const problem = unknown === undefined ? issue?.message : 'this field is not known here';
  throw new SandboxRefusal(
    400,
    'malformed_request',
    `${field || 'The body'}: ${problem}`,
    field || undefined,
  );
}

export const readCollection = (input: unknown): CollectionRequest => read(collection, input);
export const readPayout = (input: unknown): PayoutRequest => read(payout, input);
/** A transfer or a deposit. */
export const readTransfer = (input: unknown): TransferRequest => read(transfer, input);
export const readOutcome = (input: unknown): { outcome: Outcome } => read(z.strictObject({ outcome }), input);

const clearing = z.strictObject({
  currency: text.optional(),
  buckets: z.array(z.enum(['uncleared', 'reserve'])).default(['uncleared']),
});
const settings = z.strictObject({
  callback_url: address.nullable().exactOptional(),
  redirect_url: address.nullable().exactOptional(),
  order_url: link.nullable().exactOptional(),
  inbox_url: link.nullable().exactOptional(),
  misbehave: misbehaviourSchema.exactOptional(),
  retry: retryRules.exactOptional(),
  api_latency_ms: z.int().min(0).max(60_000).exactOptional(),
  api_error: z.literal([429, 500, 503]).nullable().exactOptional(),
});
const limit = z.number().min(0).exactOptional();
const providerChange = z.strictObject({
  provider_code: text,
  transaction_currency: text,
  transaction_type: text,
  is_active: z.boolean().exactOptional(),
  min_amount: limit,
  max_amount: limit,
  max_daily_amount: limit,
});
const bankChange = z.strictObject({ provider_code: text, bank_code: text, is_active: z.boolean() });
const since = z.strictObject({ since: z.iso.datetime({ offset: true }).exactOptional() });
const check = z.strictObject({ callback_url: address.optional() });
const clock = z.strictObject({ advance_seconds: z.int().min(0).max(315_360_000) });

/** Uncleared money of every currency by default. */
export const readClearing = (input: unknown): Release => read(clearing, input);
export const readCheck = (input: unknown): { callback_url?: string | undefined } => read(check, input);
export const readClock = (input: unknown): { advance_seconds: number } => read(clock, input);
export const readMisbehaviour = (input: unknown): Misbehaviour => read(misbehaviourSchema, input);
export const readRetryRules = (input: unknown): Partial<RetryRules> => read(retryRules, input);
/** What is left out stays as it is. */
export const readSettings = (input: unknown): Partial<Settings> => read(settings, input);
export const readComposition = (input: unknown): ComposedChanges => read(compositionSchema, input);
export const readProviderChange = (input: unknown): ProviderChange => read(providerChange, input);
export const readBankChange = (input: unknown): BankChange => read(bankChange, input);

/** The time since when, in milliseconds since the epoch; the beginning where none is given. */
export const readSince = (input: unknown): number => Date.parse(read(since, input).since ?? '1970-01-01');

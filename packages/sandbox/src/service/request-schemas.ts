import * as z from 'zod';
import { compositionSchema, misbehaviourSchema, misbehaviours } from '../deliveries/misbehaviours.ts';
import type { ComposedChanges, Misbehaviour } from '../state/misbehaviour.ts';
import type { Settings, TransactionMode } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import { address, problemOf, text } from '../state/request-fields.ts';
import { type RetryRules, type RetrySettings, retryRules } from '../state/retries.ts';
import type { BankChange, ProviderChange } from './simulated-providers.ts';

/** The common fields of a collection and a payout, as in the body of the request. */
interface TransactionRequest {
  readonly merchant_reference: string;
  /** In whole units of the currency, with at most as many decimals as the currency has. */
  readonly amount: number;
  readonly currency: string;
  readonly provider_code: string;
  /** The account or mobile number of the customer. Never a real card number. */
  readonly account: string;
  readonly customer_name?: string | undefined;
  /** Where the callback is sent. By default, the sandbox's `callbackUrl`; if neither is set, no callback is sent. */
  readonly callback_url?: string | undefined;
  /** Its outcome in mode `direct`. */
  readonly outcome?: Outcome | undefined;
  /** Replaces the sandbox's setting: `{}` switches all of it off. */
  readonly misbehave?: Misbehaviour | undefined;
  /** Merged with the sandbox's setting. */
  readonly retry?: RetrySettings | undefined;
}

export type Outcome = 'completed' | 'failed';

/** The body of POST /sandbox/collections. Simulated: the service's own request is not shown. */
export interface CollectionRequest extends TransactionRequest {
  /** If true, the customer pays the charge in addition, and `total_credit` is the whole amount. Our choice: not shown. */
  readonly charge_customer?: boolean | undefined;
  /** Where the customer's browser returns to. */
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
const limit = z.number().min(0).exactOptional();

/** The parsed form of each request. */
export interface Requests {
  collection: CollectionRequest;
  payout: PayoutRequest;
  /** A transfer or a deposit. */
  transfer: TransferRequest;
  outcome: { outcome: Outcome };
  /** Omitted fields are not changed. */
  settings: Partial<Settings>;
  misbehaviour: Misbehaviour;
  retry: Partial<RetryRules>;
  composition: ComposedChanges;
  provider: ProviderChange;
  bank: BankChange;
  /** In milliseconds since 1970; everything by default. */
  since: { since: number };
  check: { callback_url?: string | undefined };
  clock: { advance_seconds: number };
}

const collectionRequest = z.strictObject({
  ...transaction,
  charge_customer: z.boolean().optional(),
  redirect_url: address.optional(),
  mode: z.enum(['page', 'direct', 'pending']).optional(),
});
/** What an endpoint can start. */
const started = {
  collection: collectionRequest,
  payout: z.strictObject({
    ...transaction,
    bank_code: text.optional(),
    mode: z.enum(['direct', 'pending']).optional(),
  }),
  transfer: z.strictObject({ currency: text, amount: z.number().positive() }),
};
const requests: { readonly [Kind in keyof Requests]: z.ZodType<Requests[Kind]> } = {
  ...started,
  outcome: z.strictObject({ outcome }),
  settings: z.strictObject({
    callback_url: address.nullable().exactOptional(),
    redirect_url: address.nullable().exactOptional(),
    order_url: link.nullable().exactOptional(),
    inbox_url: link.nullable().exactOptional(),
    misbehave: misbehaviourSchema.exactOptional(),
    retry: retryRules.exactOptional(),
    api_latency_ms: z.int().min(0).max(60_000).exactOptional(),
    api_error: z.literal([429, 500, 503]).nullable().exactOptional(),
  }),
  misbehaviour: misbehaviourSchema,
  retry: retryRules,
  composition: compositionSchema,
  provider: z.strictObject({
    provider_code: text,
    transaction_currency: text,
    transaction_type: text,
    is_active: z.boolean().exactOptional(),
    min_amount: limit,
    max_amount: limit,
    max_daily_amount: limit,
  }),
  bank: z.strictObject({ provider_code: text, bank_code: text, is_active: z.boolean() }),
  since: z.strictObject({
    since: z.iso.datetime({ offset: true }).default('1970-01-01T00:00:00Z').transform(Date.parse),
  }),
  check: z.strictObject({ callback_url: address.optional() }),
  clock: z.strictObject({ advance_seconds: z.int().min(0).max(315_360_000) }),
};

/** A field of a collection or a payout that has one value. */
export const requestField: z.ZodType<
  Exclude<keyof CollectionRequest | keyof PayoutRequest, 'misbehave' | 'retry'>
> = collectionRequest.omit({ misbehave: true, retry: true }).extend({ bank_code: text }).keyof();

/** Every field of a collection, a payout or a transfer, and whether a request needs it. */
export function fieldsOf(
  kind: 'collection' | 'payout' | 'transfer',
): ReadonlyMap<string, { readonly isNeeded: boolean }> {
  const fields = Object.entries<z.ZodType>(started[kind].shape);
  return new Map(fields.map(([name, schema]) => [name, { isNeeded: !schema.safeParse(undefined).success }]));
}

/** The fields of a collection, except for those with another name in the command. */
export const collectionFields: readonly string[] = Object.keys(
  collectionRequest.omit({ callback_url: true, misbehave: true, retry: true }).shape,
);

/** Messages for fields whose values mean more than their type says. */
const problems: Readonly<Record<string, string>> = {
  merchant_reference: 'must be a string of 1 to 128 characters',
  amount: 'must be a number above zero, such as 500',
  account: 'must be a string of 1 to 128 characters, such as a mobile number',
  customer_name: 'must be a string of 1 to 128 characters',
  advance_seconds: 'must be a whole number of seconds, from 0 to 10 years',
  currency: 'must be three capital letters, such as UGX',
  max_attempts: 'must be a whole number from 1 to 50',
  backoff_ms: 'must be a whole number of milliseconds, at most 7 days',
  api_latency_ms: 'must be a whole number of milliseconds, at most 60,000',
  misbehave: 'must be an object, such as {"duplicate": 1}; {} switches it off',
  retry: 'must be an object, such as {"max_attempts": 3}; {} is the default',
  min_amount: 'must be a number, zero or more',
  max_amount: 'must be a number, zero or more',
  max_daily_amount: 'must be a number, zero or more',
};

/** Reads a request, or throws a SandboxRefusal with status 400 that names the field and what it must be. */
export function read<Kind extends keyof Requests>(kind: Kind, input: unknown): Requests[Kind] {
  let [field, problem]: [string, string | undefined] = ['', 'it cannot be read']; // In a program, a proxy that throws.
  try {
    const result = requests[kind].safeParse(input);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    field = [...(issue?.path ?? []), ...unknown].join('.');
    const name = String(issue?.path.findLast((part) => typeof part === 'string'));
    const own = problems[name] ?? misbehaviours.get(name)?.problem;
    problem = (unknown.length === 0 && own) || (issue && problemOf(issue));
  } catch {
    // zod reads the input while it describes a problem, and a proxy may throw.
  }
  return refuse('malformed_request', `${field || 'The body'}: ${problem}`, field || undefined);
}

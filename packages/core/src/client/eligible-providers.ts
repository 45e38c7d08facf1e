import { compareDecimals, type Decimal, decimalFrom, parseDecimal } from '../amounts.ts';
import type { PaymentProvider } from '../wire.ts';

/** What is known about a payment so far. Fields that are left out are not checked. */
export interface IntendedPayment {
  /**
   * The account or mobile number as the customer typed it. White space, hyphens and one leading '+' are ignored. It must
   * have the form of `option_prefixes`, including the country code if they have one.
   */
  readonly account?: string | undefined;
  /** In whole units of the currency: a decimal string ("1999.90"), bigint, or number of at most 15 significant digits. */
  readonly amount?: string | number | bigint | undefined;
  /** Currency code, compared exactly. */
  readonly currency?: string | undefined;
  /** For example `COLLECTION`. Letter case is ignored: the response has `Collection`. */
  readonly transaction_type?: string | undefined;
}

/** Why a provider cannot serve a payment. The list is closed, so that it can be translated. */
export type IneligibilityCode =
  | 'inactive'
  | 'currency_differs'
  | 'transaction_type_differs'
  | 'amount_invalid'
  | 'amount_below_minimum'
  | 'amount_above_maximum'
  | 'amount_above_daily_maximum'
  | 'account_invalid'
  | 'account_prefix_differs';

export interface IneligibilityReason {
  readonly code: IneligibilityCode;
  /** One English sentence for the customer. It names the provider's limit and never the account. */
  readonly message: string;
}

export interface IneligibleProvider {
  readonly provider: PaymentProvider;
  /** Every reason, at least one, in the order of `IneligibilityCode`. */
  readonly reasons: readonly IneligibilityReason[];
}

export interface ProviderEligibility {
  /** In the order of the input. */
  readonly eligible: readonly PaymentProvider[];
  readonly ineligible: readonly IneligibleProvider[];
}

/**
 * Splits payment options into those that can serve a payment and those that cannot, with every reason (protocol §2.2,
 * protocol §8). Amounts are compared exactly, never through floats. No customer input throws: an amount that is not a
 * number above zero is the reason `amount_invalid` for every provider.
 *
 * An empty list of prefixes allows every account. `max_daily_amount` is compared with this payment only, since earlier
 * payments of the day are unknown here: the service decides.
 *
 * @example
 * const { eligible, ineligible } = eligibleProviders(await client.listPaymentProviders(), {
 *   account: '+256 772 000 001',
 *   amount: '500',
 *   currency: 'UGX',
 *   transaction_type: 'COLLECTION',
 * });
 * if (eligible.length === 0) console.info(ineligible.map(({ reasons }) => reasons[0]?.message));
 */
export function eligibleProviders(
  providers: readonly PaymentProvider[],
  payment: IntendedPayment,
): ProviderEligibility {
  const eligible: PaymentProvider[] = [];
  const ineligible: IneligibleProvider[] = [];
  for (const provider of providers) {
    const reasons = [
      ...offerReasons(provider, payment),
      ...amountReasons(provider, payment),
      ...accountReasons(provider, payment),
    ];
    if (reasons.length === 0) eligible.push(provider);
    else ineligible.push({ provider, reasons });
  }
  return { eligible, ineligible };
}

type Reasons = Generator<IneligibilityReason>;

function* offerReasons(provider: PaymentProvider, { currency, transaction_type }: IntendedPayment): Reasons {
  const { provider_name: name, transaction_currency, transaction_type: type, is_active } = provider;
  if (!is_active) yield { code: 'inactive', message: `${name} is not available at the moment.` };
  if (currency !== undefined && currency !== transaction_currency) {
    yield { code: 'currency_differs', message: `${name} takes ${transaction_currency} only.` };
  }
  if (transaction_type !== undefined && transaction_type.toUpperCase() !== type.toUpperCase()) {
    yield { code: 'transaction_type_differs', message: `${name} serves transactions of type ${type} only.` };
  }
}

function* amountReasons(provider: PaymentProvider, { amount }: IntendedPayment): Reasons {
  if (amount === undefined) return;
  const decimal = decimalFrom(typeof amount === 'string' ? amount.trim() : amount);
  if (decimal === undefined || decimal.negative || decimal.digits === '') {
    const message = 'The amount must be a plain number above zero, such as 1999.90.';
    return yield { code: 'amount_invalid', message };
  }
  const { provider_name, transaction_currency, min_amount, max_amount, max_daily_amount } = provider;
  const limit = (bound: string, value: number): string =>
    `${provider_name} takes ${bound} ${value} ${transaction_currency}`;
  if (isBeyond(decimal, min_amount, -1)) {
    yield { code: 'amount_below_minimum', message: `${limit('at least', min_amount)} per transaction.` };
  }
  if (isBeyond(decimal, max_amount, 1)) {
    yield { code: 'amount_above_maximum', message: `${limit('at most', max_amount)} per transaction.` };
  }
  if (isBeyond(decimal, max_daily_amount, 1)) {
    yield { code: 'amount_above_daily_maximum', message: `${limit('at most', max_daily_amount)} per day.` };
  }
}

function isBeyond(amount: Decimal, limit: number, side: -1 | 1): boolean {
  // Undefined only for a number that is not finite, which limits nothing.
  const bound = parseDecimal(String(limit));
  return bound !== undefined && compareDecimals(amount, bound) === side;
}

function* accountReasons(provider: PaymentProvider, { account }: IntendedPayment): Reasons {
  if (account === undefined) return;
  const digits = normalizeAccount(account);
  if (digits === '') return yield { code: 'account_invalid', message: 'The account number is missing.' };
  const { provider_name, option_prefixes: prefixes } = provider;
  const isServed = prefixes.some((prefix) => digits.startsWith(normalizeAccount(prefix)));
  if (isServed || prefixes.length === 0) return;
  const message = `${provider_name} serves accounts that start with ${prefixes.join(', ')}.`;
  yield { code: 'account_prefix_differs', message };
}

/** Removes white space, hyphens and one leading '+'. It guesses nothing: '0772…' does not become '256772…'. */
function normalizeAccount(text: string): string {
  return text.replace(/[\s\p{Pd}]/gu, '').replace(/^\+/, '');
}

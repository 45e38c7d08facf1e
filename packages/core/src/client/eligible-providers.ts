import { compareDecimals, type Decimal, decimalFrom, parseDecimal } from '../amounts.ts';
import type { PaymentProvider } from '../wire.ts';

/** What is known of a payment so far. Only what is given is judged. */
export interface IntendedPayment {
  /**
   * The account or mobile number, as the customer typed it: white space, hyphens and one leading '+' do not count. It
   * must be in the form of `option_prefixes`, with the country code where they have one.
   */
  readonly account?: string | undefined;
  /** In whole units of the currency: decimal text ("1999.90"), bigint, or a number of at most 15 significant digits. */
  readonly amount?: string | number | bigint | undefined;
  /** Currency code, compared letter by letter. */
  readonly currency?: string | undefined;
  /** For example `COLLECTION`. Letter case does not count: the response has `Collection`. */
  readonly transaction_type?: string | undefined;
}

/** Why a provider cannot serve a payment. A closed list: translate by it. */
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
  /** One English sentence for the customer, with the provider's limit and without the account. */
  readonly message: string;
}

export interface IneligibleProvider {
  readonly provider: PaymentProvider;
  /** All of them, at least one, always in the order of `IneligibilityCode`. */
  readonly reasons: readonly IneligibilityReason[];
}

export interface ProviderEligibility {
  /** In the order given. */
  readonly eligible: readonly PaymentProvider[];
  readonly ineligible: readonly IneligibleProvider[];
}

/**
 * Sorts payment options into those that can serve a payment and those that cannot, with every reason (specification
 * 2.2, 8). Amounts are compared exactly, never through floats. What a customer can type never throws: an amount that is
 * none, or is not above zero, is the reason `amount_invalid` for every provider.
 *
 * An empty list of prefixes is no rule about the account. Of `max_daily_amount` only this payment is known here, not
 * what was paid earlier today: the service has the last word.
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

function* offerReasons(
  { provider_name, is_active, transaction_currency, transaction_type }: PaymentProvider,
  payment: IntendedPayment,
): Generator<IneligibilityReason> {
  if (!is_active) yield { code: 'inactive', message: `${provider_name} is not available at the moment.` };
  if (payment.currency !== undefined && payment.currency !== transaction_currency) {
    yield { code: 'currency_differs', message: `${provider_name} takes ${transaction_currency} only.` };
  }
  const type = payment.transaction_type;
  if (type !== undefined && type.toUpperCase() !== transaction_type.toUpperCase()) {
    yield {
      code: 'transaction_type_differs',
      message: `${provider_name} serves transactions of type ${transaction_type} only.`,
    };
  }
}

function* amountReasons(
  { provider_name, transaction_currency, min_amount, max_amount, max_daily_amount }: PaymentProvider,
  { amount }: IntendedPayment,
): Generator<IneligibilityReason> {
  if (amount === undefined) return;
  const decimal = decimalFrom(typeof amount === 'string' ? amount.trim() : amount);
  if (decimal === undefined || decimal.negative || decimal.digits === '') {
    yield {
      code: 'amount_invalid',
      message: 'The amount must be a plain number above zero, such as 1999.90.',
    };
    return;
  }
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
  // The service's own number, digits as they are: undefined only for one that is not finite, which limits nothing.
  const bound = parseDecimal(String(limit));
  return bound !== undefined && compareDecimals(amount, bound) === side;
}

function* accountReasons(
  { provider_name, option_prefixes }: PaymentProvider,
  { account }: IntendedPayment,
): Generator<IneligibilityReason> {
  if (account === undefined) return;
  const digits = normalizeAccount(account);
  if (digits === '') {
    yield { code: 'account_invalid', message: 'The account number is missing.' };
    return;
  }
  if (option_prefixes.length === 0) return;
  if (option_prefixes.some((prefix) => digits.startsWith(normalizeAccount(prefix)))) return;
  yield {
    code: 'account_prefix_differs',
    message: `${provider_name} serves accounts that start with ${option_prefixes.join(', ')}.`,
  };
}

/** White space, hyphens of any kind, and one '+' at the start. Nothing is guessed: '0772…' does not become '256772…'. */
function normalizeAccount(text: string): string {
  return text.replace(/[\s\p{Pd}]/gu, '').replace(/^\+/, '');
}

import { ConfigurationError } from '../../errors.ts';
import { compareDecimals, type Decimal, decimalFrom, parseDecimal, sumOf } from '../../money/decimal.ts';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
} from '../../options/options.ts';
import type { PaymentProvider } from '../client.ts';
import { type AccountReading, readAccount, takesPhones } from './read-account.ts';

/** What is known about a payment so far. Fields that are left out are not checked. */
export interface IntendedPayment {
  /**
   * The account or mobile number as the customer typed it. Send the `account` of the eligible provider, not this one: the
   * service takes digits, and `+256 772 000 001` is not the account `256772000001`.
   */
  readonly account?: string | undefined;
  /**
   * In the unit of the provider's limits, which is shown only for a currency without minor units (protocol §8): a decimal string
   * ("1999.90"), bigint, or number of at most 15 significant digits.
   */
  readonly amount?: string | number | bigint | undefined;
  /** Currency code, compared exactly. */
  readonly currency?: string | undefined;
  /**
   * The amount that each provider has processed today, by `provider_code`, as far as you know. `max_daily_amount` is then
   * compared with that amount plus this payment. The protocol does not show when the service's day begins, nor what it counts
   * (protocol §8).
   */
  readonly spent_today?: Readonly<Record<string, string | number | bigint>> | undefined;
  /** For example `COLLECTION`. Letter case is ignored: the response has `Collection`. */
  readonly transaction_type?: string | undefined;
}

/** Why a provider cannot serve a payment. The list is closed, so you can translate it. */
export type IneligibilityCode =
  | 'inactive'
  | 'currency_differs'
  | 'transaction_type_differs'
  | 'amount_invalid'
  | 'amount_below_minimum'
  | 'amount_above_maximum'
  | 'amount_above_daily_maximum'
  | 'account_invalid'
  | 'account_country_missing'
  | 'account_prefix_differs';

export interface IneligibilityReason {
  readonly code: IneligibilityCode;
  /** In English, for the customer. It names the provider's limit, never the account. */
  readonly message: string;
}

export interface IneligibleProvider {
  readonly provider: PaymentProvider;
  /** Every reason, at least one, in the order of `IneligibilityCode`. */
  readonly reasons: readonly IneligibilityReason[];
}

export interface EligibleProvider {
  readonly provider: PaymentProvider;
  /**
   * What it accepts. `phone`: mobile money (`transaction_method`), or numbers with one of `option_prefixes`. `account`: accounts
   * of any form, such as bank accounts, so it is also eligible for every phone number.
   */
  readonly kind: 'phone' | 'account';
  /** The account to send. Undefined if the payment has none. */
  readonly account: string | undefined;
}

export interface ProviderEligibility {
  /** In the order of the input, whatever their kind: look at the first one before you start a payment with it. */
  readonly eligible: readonly EligibleProvider[];
  readonly ineligible: readonly IneligibleProvider[];
}

/**
 * Splits payment options into those that can serve a payment and those that cannot, with every reason (protocol §2.2,
 * protocol §8). Amounts are compared exactly, never through floats. Customer input never throws: an amount that is not a number
 * above zero gives every provider the reason `amount_invalid`. An unknown property does throw, since a misspelled `amount`
 * would otherwise be ignored.
 *
 * A phone number is read as people write it: with spaces, hyphens, dots, brackets, `+` or `00`, or with a leading 0 if exactly one
 * country code follows from `option_prefixes`. An empty list of prefixes allows every account. `max_daily_amount` is compared with
 * this payment, plus `spent_today` if given; the service decides.
 *
 * @throws {ConfigurationError} if `providers` is not a list of payment options, for example a promise of one.
 * @throws {ConfigurationError} if `payment` has an unknown property, or `spent_today` contains an inexact amount.
 *
 * @example
 * const { eligible, ineligible } = eligibleProviders(await client.listPaymentProviders(), {
 *   account: '+256 772 000 001',
 *   amount: '500',
 *   currency: 'UGX',
 *   transaction_type: 'COLLECTION',
 * });
 * const phone = eligible.find(({ kind }) => kind === 'phone');
 * if (phone !== undefined) console.info(phone.provider.provider_code, phone.account); // '256772000001'
 * else console.info(ineligible.map(({ reasons }) => reasons[0]?.message));
 */
export function eligibleProviders(
  providers: readonly PaymentProvider[],
  payment: IntendedPayment,
): ProviderEligibility {
  checkArgument('eligibleProviders()', 'providers', providers, PROVIDER_LIST);
  checkOptions('eligibleProviders()', payment, PAYMENT_NAMES);
  const eligible: EligibleProvider[] = [];
  const ineligible: IneligibleProvider[] = [];
  const { account: typed } = payment;
  for (const provider of providers) {
    // Customer input that is not a string is an invalid account.
    const read =
      typed === undefined ? undefined : readAccount(typeof typed === 'string' ? typed : '', provider);
    const reasons = reasonsOf(provider, payment, read);
    const account = read !== undefined && 'account' in read ? read.account : undefined;
    const kind = takesPhones(provider) ? 'phone' : 'account';
    if (reasons.length === 0) eligible.push({ provider, kind, account });
    else ineligible.push({ provider, reasons });
  }
  return { eligible, ineligible };
}

const PROVIDER_LIST: OptionRule = [
  (providers) => Array.isArray(providers) && providers.every(isProvider),
  'the list of listPaymentProviders()',
];

function isProvider(row: PaymentProvider): boolean {
  const { provider_name, provider_code, transaction_currency, transaction_type, option_prefixes } = row;
  const names: unknown[] = [provider_name, provider_code, transaction_currency, transaction_type];
  const limits: unknown[] = [row.min_amount, row.max_amount, row.max_daily_amount];
  const isText = (value: unknown): boolean => typeof value === 'string';
  return (
    Array.isArray(option_prefixes) &&
    [...names, ...option_prefixes].every(isText) &&
    limits.every((limit) => typeof limit === 'number')
  );
}

/** Checks names only: invalid customer input is a reason, not an error. */
const PAYMENT_NAMES: OptionRules<IntendedPayment> = {
  account: undefined,
  amount: undefined,
  currency: undefined,
  transaction_type: undefined,
  spent_today: [RECORD[0], 'a map from a provider_code to an amount'],
};

function reasonsOf(
  provider: PaymentProvider,
  payment: IntendedPayment,
  read: AccountReading | undefined,
): IneligibilityReason[] {
  const { provider_name: name, transaction_currency: unit, transaction_type: type } = provider;
  const { min_amount: min, max_amount: max, max_daily_amount: daily } = provider;
  const { currency = unit, transaction_type = type, amount } = payment;
  const decimal =
    amount === undefined ? undefined : decimalFrom(typeof amount === 'string' ? amount.trim() : amount);
  const isAmount = decimal !== undefined && !decimal.negative && decimal.digits !== '';
  const isBeyond = (limit: number, side: -1 | 1, spent: readonly Decimal[] = []): boolean => {
    // Undefined only for a number that is not finite, which is no limit.
    const bound = parseDecimal(String(limit));
    return isAmount && bound !== undefined && compareDecimals(sumOf([decimal, ...spent]), bound) === side;
  };
  const spent = spentBy(provider, payment);
  const money = (limit: number): string =>
    `${unit}\u00a0${limit.toLocaleString('en', { maximumFractionDigits: 20 })}`;
  const isOtherType =
    typeof transaction_type !== 'string' || transaction_type.toUpperCase() !== type.toUpperCase();
  const isWrongAmount = amount !== undefined && !isAmount;
  const checks: readonly [IneligibilityCode, applies: boolean, message: string][] = [
    ['inactive', !provider.is_active, `${name} is not available at the moment.`],
    ['currency_differs', currency !== unit, `${name} accepts only ${unit}.`],
    ['transaction_type_differs', isOtherType, `${name} supports only ${type} transactions.`],
    ['amount_invalid', isWrongAmount, 'The amount must be a plain number above zero, such as 1999.90.'],
    ['amount_below_minimum', isBeyond(min, -1), `${name} accepts at least ${money(min)} per transaction.`],
    ['amount_above_maximum', isBeyond(max, 1), `${name} accepts at most ${money(max)} per transaction.`],
    [
      'amount_above_daily_maximum',
      isBeyond(daily, 1, spent),
      `${name} accepts at most ${money(daily)} per day.`,
    ],
  ];
  const reasons = checks.filter(([, applies]) => applies).map(([code, , message]) => ({ code, message }));
  if (read !== undefined && 'problem' in read) reasons.push({ code: read.problem, message: read.message });
  return reasons;
}

/** The amount that the provider has processed today, or zero. */
function spentBy({ provider_code }: PaymentProvider, { spent_today = {} }: IntendedPayment): Decimal[] {
  if (!Object.hasOwn(spent_today, provider_code)) return [];
  const spent = decimalFrom(spent_today[provider_code] ?? '');
  if (spent !== undefined && !spent.negative) return [spent];
  const message = 'spent_today must contain decimals of 0 or more, such as "1999.90".';
  throw new ConfigurationError('spent_today', message);
}

import { ConfigurationError } from '@payment-service/core';
import type { PaymentProvider, PayoutBank } from '@payment-service/core/client';
import { toMinor } from '../state/money.ts';
import type { SandboxProvider } from '../state/records.ts';
import { refuse, SandboxRefusal } from '../state/refusal.ts';
import type { Unit } from '../state/store.ts';

const DAY = 86_400;

/** The name of each method, and what a collection with it costs. */
const methods = {
  MOBILE_MONEY: { label: 'Mobile Money', costs: { chargeBasisPoints: 300, clearingSeconds: 0 } },
  BANK: { label: 'Bank', costs: { chargeBasisPoints: 100, clearingSeconds: DAY } },
  CARD: {
    label: 'Card',
    costs: {
      chargeBasisPoints: 350,
      clearingSeconds: 2 * DAY,
      reserve: { basisPoints: 1000, seconds: 90 * DAY },
    },
  },
};

type Names = readonly [name: string, code: string, currency: string, prefixes?: string[]];
type Limits = readonly [min: number, max: number, daily: number];

const provider = (
  method: keyof typeof methods,
  type: 'Collection' | 'Payout',
  [provider_name, provider_code, transaction_currency, option_prefixes = []]: Names,
  [min_amount, max_amount, max_daily_amount]: Limits,
  { is_active = true, ...rest }: { is_active?: boolean; banks?: readonly PayoutBank[] } = {},
): SandboxProvider => ({
  option: {
    provider_name,
    provider_code,
    transaction_method: method,
    transaction_method_name: methods[method].label,
    transaction_type: type,
    transaction_currency,
    min_amount,
    max_amount,
    max_daily_amount,
    is_active,
    option_prefixes,
  },
  ...(type === 'Payout' ? { chargeBasisPoints: 0, clearingSeconds: 0 } : methods[method].costs),
  ...rest,
});

const bank = (bank_code: string, bank_name: string, is_active = true): PayoutBank => ({
  bank_code,
  bank_name,
  is_active,
});
const ugandan = {
  banks: [
    bank('EX001', 'Example Bank'),
    bank('EX002', 'Lakeside Savings Bank'),
    bank('EX003', 'Closed Bank', false),
  ],
};
const kenyan = { banks: [bank('EK001', 'Example Bank Kenya'), bank('EK002', 'Highland Bank')] };

const example: Names = ['Example Mobile Money', 'example_mobile_money', 'UGX', ['25677', '25678']];
const lake: Names = ['Lake Mobile Money', 'lake_mobile_money', 'UGX', ['25670', '25675']];
const savanna: Names = ['Savanna Mobile Money', 'savanna_mobile_money', 'KES', ['25470', '25471', '25472']];
const rift: Names = ['Rift Mobile Money', 'rift_mobile_money', 'KES', ['25473']];
const ugandanBank: Names = ['Example Bank Transfer', 'example_bank', 'UGX'];
const kenyanBank: Names = ['Example Bank Transfer Kenya', 'example_bank_ke', 'KES'];
const ugandanCard: Names = ['Example Card (UGX)', 'example_card_ugx', 'UGX'];
const dollarCard: Names = ['Example Card (USD)', 'example_card_usd', 'USD'];

/** The payment options of a fresh sandbox. Names and codes are made up: the real set is not shown (protocol §2.5). */
export const defaultProviders: readonly SandboxProvider[] = [
  provider('MOBILE_MONEY', 'Collection', example, [500, 5_000_000, 20_000_000]),
  provider('MOBILE_MONEY', 'Payout', example, [1000, 4_000_000, 10_000_000]),
  provider('MOBILE_MONEY', 'Collection', lake, [1000, 2_000_000, 8_000_000]),
  provider('MOBILE_MONEY', 'Collection', savanna, [10, 150_000, 500_000]),
  provider('MOBILE_MONEY', 'Payout', savanna, [10, 150_000, 500_000]),
  provider('MOBILE_MONEY', 'Collection', rift, [10, 70_000, 140_000], { is_active: false }),
  provider('BANK', 'Collection', ugandanBank, [5000, 50_000_000, 200_000_000], ugandan),
  provider('BANK', 'Payout', ugandanBank, [5000, 50_000_000, 200_000_000], ugandan),
  provider('BANK', 'Payout', kenyanBank, [100, 1_000_000, 5_000_000], kenyan),
  provider('CARD', 'Collection', ugandanCard, [2000, 10_000_000, 40_000_000]),
  provider('CARD', 'Collection', dollarCard, [1, 5000, 20_000]),
];

/** The option that serves this provider code and transaction type (COLLECTION or PAYOUT). */
export function findProvider(
  providers: readonly SandboxProvider[],
  providerCode: string,
  transactionType: string,
): SandboxProvider | undefined {
  return providers.find(
    ({ option }) =>
      option.provider_code === providerCode && option.transaction_type.toUpperCase() === transactionType,
  );
}

/** Whether the option serves the account number. Without prefixes it serves every one. */
export const servesAccount = ({ option_prefixes }: PaymentProvider, account: string): boolean =>
  option_prefixes.length === 0 || option_prefixes.some((prefix) => account.startsWith(prefix));

const GOOD_LIMITS = 'needs exact limits with min <= max <= daily';

function hasGoodLimits(option: PaymentProvider): boolean {
  const { min_amount: min, max_amount: max, max_daily_amount: daily } = option;
  const isExact = [min, max, daily].every((one) => (toMinor(one, option.transaction_currency) ?? -1) >= 0);
  return isExact && min <= max && max <= daily;
}

/** Throws a ConfigurationError for options that could not be simulated exactly. */
export function checkProviders(providers: readonly SandboxProvider[]): void {
  const taken = new Set<string>();
  for (const { option, chargeBasisPoints, clearingSeconds, reserve } of providers) {
    const refuse = (why: string): never => {
      throw new ConfigurationError('providers', `providers: ${option.provider_code} ${why}.`);
    };
    if (!/^[A-Z]{3}$/.test(option.transaction_currency)) refuse('needs a currency of three capital letters');
    if (!hasGoodLimits(option)) refuse(GOOD_LIMITS);
    const shares = [chargeBasisPoints, reserve?.basisPoints ?? 0];
    if (!shares.every((share) => Number.isInteger(share) && share >= 0 && share <= 10_000)) {
      refuse('needs shares in basis points, 0 to 10000');
    }
    const spans = [clearingSeconds, reserve?.seconds ?? 0];
    if (!spans.every((seconds) => Number.isInteger(seconds) && seconds >= 0)) {
      refuse('needs whole seconds, 0 or more');
    }
    const type = option.transaction_type.toUpperCase();
    if (type !== 'COLLECTION' && type !== 'PAYOUT') refuse('needs the transaction type Collection or Payout');
    if (taken.has(`${option.provider_code}:${type}`)) refuse(`is listed twice for ${type}`);
    taken.add(`${option.provider_code}:${type}`);
  }
}

/** The option, and its new switch or limits. */
export interface ProviderChange
  extends Partial<Pick<PaymentProvider, 'is_active' | 'min_amount' | 'max_amount' | 'max_daily_amount'>>,
    Pick<PaymentProvider, 'provider_code' | 'transaction_currency' | 'transaction_type'> {}

export interface BankChange extends Pick<PayoutBank, 'bank_code' | 'is_active'> {
  readonly provider_code: string;
}

/** Puts the providers into the store, in their order. */
export function putProviders(unit: Unit, providers: readonly SandboxProvider[]): void {
  unit.clear((kind) => kind === 'provider');
  for (const [index, provider] of providers.entries()) unit.put('provider', index, provider);
}

/** Throws a SandboxRefusal for an unknown provider, or limits that contradict each other. */
export function changeProvider(unit: Unit, change: ProviderChange): SandboxProvider {
  const { provider_code, transaction_currency, transaction_type, ...changes } = change;
  for (const [index, provider] of unit.list('provider').entries()) {
    const option = { ...provider.option, ...changes };
    const isNamed =
      option.provider_code === provider_code && option.transaction_currency === transaction_currency;
    if (!isNamed || option.transaction_type.toUpperCase() !== transaction_type.toUpperCase()) continue;
    if (!hasGoodLimits(option)) {
      throw new SandboxRefusal('malformed_request', `The provider ${GOOD_LIMITS}.`, 'max_amount', 422);
    }
    const changed = { ...provider, option };
    unit.put('provider', index, changed);
    return changed;
  }
  refuse('not_found', 'There is no such provider.', 'provider_code');
}

/** Switches a bank on or off, wherever the provider lists it. Throws a SandboxRefusal for an unknown one. */
export function changeBank(unit: Unit, { provider_code, bank_code, is_active }: BankChange): PayoutBank {
  let found: PayoutBank | undefined;
  for (const [index, provider] of unit.list('provider').entries()) {
    const bank = provider.banks?.find((one) => one.bank_code === bank_code);
    if (bank === undefined || provider.option.provider_code !== provider_code) continue;
    const changed = { ...bank, is_active };
    found = changed;
    const banks = provider.banks?.map((one) => (one === bank ? changed : one)) ?? [];
    unit.put('provider', index, { ...provider, banks });
  }
  if (found === undefined) refuse('not_found', 'There is no such bank.', 'bank_code');
  return found;
}

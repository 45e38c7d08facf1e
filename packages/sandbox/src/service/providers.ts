import { ConfigurationError } from '@payment-service/core';
import type { PaymentProvider, PayoutBank } from '@payment-service/core/client';
import type { Unit } from '../state/store.ts';
import { toMinor } from './money.ts';
import { SandboxRefusal } from './refusal.ts';

/** A payment option as the contract lists it, and how the sandbox simulates it. */
export interface SandboxProvider {
  /** Exactly what GET /data/payment-providers answers; amounts in whole units of the currency. */
  readonly option: Readonly<PaymentProvider>;
  /** The simulated fee on a collection, in basis points of the amount (300 = 3 %). */
  readonly chargeBasisPoints: number;
  /** Seconds from completion until the credit becomes available; 0 is at once. */
  readonly clearingSeconds: number;
  /** The rolling reserve: the share of the credit that is kept back, and for how long. */
  readonly reserve?: { readonly basisPoints: number; readonly seconds: number };
  /** The banks that it pays out to (method BANK). */
  readonly banks?: readonly Readonly<PayoutBank>[];
}

const DAY = 86_400;
const methodNames = { MOBILE_MONEY: 'Mobile Money', BANK: 'Bank', CARD: 'Card' };

interface Row {
  readonly name: string;
  readonly code: string;
  readonly method: keyof typeof methodNames;
  readonly type: 'Collection' | 'Payout';
  readonly currency: string;
  /** Minimum, maximum per transaction, maximum per day. */
  readonly limits: readonly [min: number, max: number, daily: number];
  readonly prefixes?: readonly string[];
  readonly active?: boolean;
}

const option = (row: Row): PaymentProvider => ({
  provider_name: row.name,
  provider_code: row.code,
  transaction_method: row.method,
  transaction_method_name: methodNames[row.method],
  transaction_type: row.type,
  transaction_currency: row.currency,
  min_amount: row.limits[0],
  max_amount: row.limits[1],
  max_daily_amount: row.limits[2],
  is_active: row.active ?? true,
  option_prefixes: [...(row.prefixes ?? [])],
});

const mobile = (row: Omit<Row, 'method'>): SandboxProvider => ({
  option: option({ ...row, method: 'MOBILE_MONEY' }),
  chargeBasisPoints: row.type === 'Collection' ? 300 : 0,
  clearingSeconds: 0,
});

const bank = (row: Omit<Row, 'method'>, banks: readonly PayoutBank[]): SandboxProvider => ({
  option: option({ ...row, method: 'BANK' }),
  chargeBasisPoints: row.type === 'Collection' ? 100 : 0,
  clearingSeconds: row.type === 'Collection' ? DAY : 0,
  banks,
});

const card = (row: Omit<Row, 'method' | 'type'>): SandboxProvider => ({
  option: option({ ...row, method: 'CARD', type: 'Collection' }),
  chargeBasisPoints: 350,
  clearingSeconds: 2 * DAY,
  reserve: { basisPoints: 1000, seconds: 90 * DAY },
});

const ugandanBanks: readonly PayoutBank[] = [
  { bank_code: 'EX001', bank_name: 'Example Bank', is_active: true },
  { bank_code: 'EX002', bank_name: 'Lakeside Savings Bank', is_active: true },
  { bank_code: 'EX003', bank_name: 'Closed Bank', is_active: false },
];
const kenyanBanks: readonly PayoutBank[] = [
  { bank_code: 'EK001', bank_name: 'Example Bank Kenya', is_active: true },
  { bank_code: 'EK002', bank_name: 'Highland Bank', is_active: true },
];

const example = { name: 'Example Mobile Money', code: 'example_mobile_money', currency: 'UGX' };
const savanna = { name: 'Savanna Mobile Money', code: 'savanna_mobile_money', currency: 'KES' };
const ugandanBank = { name: 'Example Bank Transfer', code: 'example_bank', currency: 'UGX' };
const kenyanBank = { name: 'Example Bank Transfer Kenya', code: 'example_bank_ke', currency: 'KES' };
const savannaPrefixes = ['25470', '25471', '25472'];

/** The payment options of a fresh sandbox. Names and codes are made up: the real set is not shown (protocol §2.5). */
export const defaultProviders: readonly SandboxProvider[] = [
  mobile({
    ...example,
    type: 'Collection',
    limits: [500, 5_000_000, 20_000_000],
    prefixes: ['25677', '25678'],
  }),
  mobile({ ...example, type: 'Payout', limits: [1000, 4_000_000, 10_000_000], prefixes: ['25677', '25678'] }),
  mobile({
    name: 'Lake Mobile Money',
    code: 'lake_mobile_money',
    currency: 'UGX',
    type: 'Collection',
    limits: [1000, 2_000_000, 8_000_000],
    prefixes: ['25670', '25675'],
  }),
  mobile({ ...savanna, type: 'Collection', limits: [10, 150_000, 500_000], prefixes: savannaPrefixes }),
  mobile({ ...savanna, type: 'Payout', limits: [10, 150_000, 500_000], prefixes: savannaPrefixes }),
  mobile({
    name: 'Rift Mobile Money (switched off)',
    code: 'rift_mobile_money',
    currency: 'KES',
    type: 'Collection',
    limits: [10, 70_000, 140_000],
    prefixes: ['25473'],
    active: false,
  }),
  bank({ ...ugandanBank, type: 'Collection', limits: [5000, 50_000_000, 200_000_000] }, ugandanBanks),
  bank({ ...ugandanBank, type: 'Payout', limits: [5000, 50_000_000, 200_000_000] }, ugandanBanks),
  bank({ ...kenyanBank, type: 'Payout', limits: [100, 1_000_000, 5_000_000] }, kenyanBanks),
  card({
    name: 'Example Card (UGX)',
    code: 'example_card_ugx',
    currency: 'UGX',
    limits: [2000, 10_000_000, 40_000_000],
  }),
  card({ name: 'Example Card (USD)', code: 'example_card_usd', currency: 'USD', limits: [1, 5000, 20_000] }),
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
  const {
    transaction_currency: currency,
    min_amount: min,
    max_amount: max,
    max_daily_amount: daily,
  } = option;
  const isExact = [min, max, daily].every((amount) => (toMinor(amount, currency) ?? -1) >= 0);
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
    if (
      ![clearingSeconds, reserve?.seconds ?? 0].every((seconds) => Number.isInteger(seconds) && seconds >= 0)
    ) {
      refuse('needs whole seconds, 0 or more');
    }
    const type = option.transaction_type.toUpperCase();
    if (type !== 'COLLECTION' && type !== 'PAYOUT') refuse('needs the transaction type Collection or Payout');
    if (taken.has(`${option.provider_code}:${type}`)) refuse(`is listed twice for ${type}`);
    taken.add(`${option.provider_code}:${type}`);
  }
}

/** The option that changes, and any of its switch and its limits. */
export interface ProviderChange
  extends Partial<Pick<PaymentProvider, 'is_active' | 'min_amount' | 'max_amount' | 'max_daily_amount'>>,
    Pick<PaymentProvider, 'provider_code' | 'transaction_currency' | 'transaction_type'> {}

export interface BankChange extends Pick<PayoutBank, 'bank_code' | 'is_active'> {
  readonly provider_code: string;
}

/** Puts the providers into the store, in their order. */
export function putProviders(unit: Unit, providers: readonly SandboxProvider[]): void {
  unit.clear('provider');
  for (const [index, provider] of providers.entries()) unit.put('provider', index, provider);
}

/** Throws a SandboxRefusal for a provider that is not there, or limits that contradict each other. */
export function changeProvider(unit: Unit, change: ProviderChange): SandboxProvider {
  const { provider_code, transaction_currency, transaction_type, ...changes } = change;
  for (const [index, provider] of unit.list('provider').entries()) {
    const option = { ...provider.option, ...changes };
    const isNamed =
      option.provider_code === provider_code && option.transaction_currency === transaction_currency;
    if (!isNamed || option.transaction_type.toUpperCase() !== transaction_type.toUpperCase()) continue;
    if (!hasGoodLimits(option)) {
      throw new SandboxRefusal(422, 'malformed_request', `The provider ${GOOD_LIMITS}.`, 'max_amount');
    }
    const changed = { ...provider, option };
    unit.put('provider', index, changed);
    return changed;
  }
  throw new SandboxRefusal(404, 'not_found', 'There is no such provider.', 'provider_code');
}

/** Switches a bank on or off, wherever the provider lists it. Throws a SandboxRefusal for one that is not there. */
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
  if (found === undefined) throw new SandboxRefusal(404, 'not_found', 'There is no such bank.', 'bank_code');
  return found;
}

import { checkArgument, checkOptions, type OptionRule } from '../../options/options.ts';
import type { PayoutBank } from '../client.ts';

/** Why a payout cannot go to a bank. The list is closed, so you can translate it. */
export type BankIneligibilityCode = 'unknown' | 'inactive';

export interface IneligibleBank {
  readonly bank_code: string;
  /** Undefined if the provider does not list it. */
  readonly bank: PayoutBank | undefined;
  readonly code: BankIneligibilityCode;
  /** One English sentence for the customer. */
  readonly message: string;
}

export interface BankEligibility {
  /** In the order of the input. */
  readonly eligible: readonly PayoutBank[];
  readonly ineligible: readonly IneligibleBank[];
}

/**
 * Splits a provider's banks into those that can receive a payout and those that cannot (protocol §2.3), or checks only the
 * selected bank. Codes are compared character by character. To check the provider itself, use `eligibleProviders()`.
 *
 * @param payout `bank_code` is the selected bank. @default every bank of the list
 * @throws {ConfigurationError} if `banks` is not a list of banks, for example a promise of one.
 * @throws {ConfigurationError} if `payout` has an unknown property.
 *
 * @example
 * const banks = await client.listPayoutBanks({ provider_code: 'example_bank' }, { fresh: true });
 * const [refused] = eligibleBanks(banks, { bank_code: 'EX001' }).ineligible;
 * if (refused !== undefined) console.info(refused.message);
 */
export function eligibleBanks(
  banks: readonly PayoutBank[],
  payout: { readonly bank_code?: string | undefined } = {},
): BankEligibility {
  checkArgument('eligibleBanks()', 'banks', banks, BANK_LIST);
  checkOptions('eligibleBanks()', payout, { bank_code: undefined });
  const { bank_code: chosen } = payout;
  const listed = banks.filter(({ bank_code }) => chosen === undefined || bank_code === chosen);
  const ineligible = listed
    .filter((bank) => !bank.is_active)
    .map((bank): IneligibleBank => {
      const message = `${bank.bank_name} is not available at the moment.`;
      return { bank_code: bank.bank_code, bank, code: 'inactive', message };
    });
  if (chosen !== undefined && listed.length === 0) {
    const message = 'This provider does not pay out to the selected bank.';
    ineligible.push({ bank_code: chosen, bank: undefined, code: 'unknown', message });
  }
  return { eligible: listed.filter((bank) => bank.is_active), ineligible };
}

const BANK_LIST: OptionRule = [
  (banks) => Array.isArray(banks) && banks.every(({ bank_code }) => typeof bank_code === 'string'),
  'the list of listPayoutBanks()',
];

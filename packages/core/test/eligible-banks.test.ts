import { expect, test } from 'vitest';
import { type BankEligibility, eligibleBanks } from '../src/client/selection/eligible-banks.ts';
import { ConfigurationError } from '../src/errors.ts';

const open = { bank_code: 'EX001', bank_name: 'Example Bank', is_active: true };
const closed = { bank_code: 'EX002', bank_name: 'Other Bank', is_active: false };
const codesOf = ({ ineligible }: BankEligibility) =>
  ineligible.map(({ bank_code, code }) => [bank_code, code]);

test('active banks are eligible, and the others have a reason and a message', () => {
  expect(eligibleBanks([open, closed])).toEqual({
    eligible: [open],
    ineligible: [
      {
        bank_code: 'EX002',
        bank: closed,
        code: 'inactive',
        message: 'Other Bank is not available at the moment.',
      },
    ],
  });
  expect(eligibleBanks([])).toEqual({ eligible: [], ineligible: [] });
});

test('only the selected bank is checked, and its code is compared character by character', () => {
  expect(eligibleBanks([open, closed], { bank_code: 'EX001' })).toEqual({
    eligible: [open],
    ineligible: [],
  });
  expect(codesOf(eligibleBanks([open, closed], { bank_code: 'EX002' }))).toEqual([['EX002', 'inactive']]);
  for (const bank_code of ['EX003', 'ex001', ' EX001', '']) {
    const judged = eligibleBanks([open, closed], { bank_code });
    expect(judged).toMatchObject({ eligible: [], ineligible: [{ bank: undefined }] });
    expect(codesOf(judged)).toEqual([[bank_code, 'unknown']]);
  }
});

test('the selected code is not quoted, and a misspelled name is refused', () => {
  const [refused] = eligibleBanks([open], { bank_code: '<script>' }).ineligible;
  expect(refused?.message).toBe('This provider does not pay out to the selected bank.');
  expect(() => eligibleBanks([open], { bankCode: 'EX001' } as never)).toThrow(ConfigurationError);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PaymentProvider } from '../../src/client/client.ts';
import { eligibleProviders } from '../../src/client/selection/eligible-providers.ts';
import { provider as mtn } from './wire-samples.ts';

// The account to send, for every way in which people type a phone number.

/** The account to send, or the codes of the reasons against it. */
function read(account: string, option_prefixes: string[], transaction_method = 'MOBILE_MONEY'): unknown {
  const provider: PaymentProvider = { ...mtn, option_prefixes, transaction_method };
  const { eligible, ineligible } = eligibleProviders([provider], { account });
  return eligible[0]?.account ?? ineligible[0]?.reasons.map(({ code }) => code).join();
}

const UGANDA = ['25677', '25678'];
const COUNTRY = 'account_country_missing';
const PREFIX = 'account_prefix_differs';
test.each<[account: string, prefixes: string[], ...typed: string[]]>([
  ['256772000001', UGANDA, '256772000001', '+256 772 000 001', ' +256-772-000-001 ', '(256) 772 000001'],
  ['256772000001', UGANDA, '256.772.000.001', '00256772000001', '00 256 772/000001', '(+256) 772 000 001'],
  [
    '256772000001',
    UGANDA,
    '+256 (0) 772 000 001',
    '+256 (0)772-000-001',
    '00256(0)772000001',
    '0256772000001',
  ],
  ['256772000001', UGANDA, '\uff0b\uff12\uff15\uff16\u3000772\uff0d000\uff0d001', '256\u2212772000001'],
  ['256772000001', UGANDA, '\u202a+256 772 000001\u202c', '\u200e+256772000001', '\u2066256772000001\u2069'],
  ['256772000001', UGANDA, '0772 000001', '0772000001', '(0772) 000-001', '(0)772000001'],
  ['256772000001', ['+256 77'], '0772000001', '+256772000001', '00256772000001'],
  ['27821234567', ['2782', '2783'], '082 123 4567'],
  // The prefixes of two countries, or none that says where the country code ends: the customer writes it.
  [COUNTRY, ['25677', '25477'], '0772000001'],
  [COUNTRY, ['256'], '0256772000001', '0677200001'],
  [COUNTRY, ['27'], '0821234567', '0712345678'],
  [COUNTRY, ['7'], '0712345678'],
  ['256772000001', ['256'], '0772000001'],
  // National prefixes, and numbers of another provider.
  ['0772000001', ['077'], '0772 000001'],
  [PREFIX, ['077'], '+256772000001', '772000001'],
  [PREFIX, UGANDA, '0752000001', '+256752000001', '00', '000256772000001'],
  // Prefixes that are not digits are of accounts.
  ['UG1', ['UG'], 'UG 1'],
  [PREFIX, ['UG'], '0772000001', '00UG1'],
  // Without prefixes nothing says where the country code is.
  ['0772000001', [], '0772 000001'],
  ['256772000001', [], '+256 (772) 000.001'],
])('the account %s is read, for the prefixes %j, from each of %j', (account, prefixes, ...typed) => {
  for (const one of typed) expect(read(one, prefixes), one).toBe(account);
});

test('the account of a bank keeps its leading zeros, letters and other characters', () => {
  for (const [typed, sent] of [
    ['0012 3456', '00123456'],
    ['GB33 BUKB 2020', 'GB33BUKB2020'],
    ['12.34/5(6)', '12.34/5(6)'],
  ] as const)
    expect(read(typed, [], 'BANK')).toBe(sent);
});

test('a payment can be started with the first phone provider, although a bank is eligible before it', () => {
  const bank = { ...mtn, transaction_method: 'BANK', option_prefixes: [] };
  const providers = [bank, { ...mtn, transaction_method: 'WALLET' }, { ...mtn, option_prefixes: [] }];
  const kinds = (account: string) =>
    eligibleProviders(providers, { account }).eligible.map(({ kind }) => kind);
  expect(kinds('0772000001')).toEqual(['account', 'phone', 'phone']);
  expect(kinds('256752000001')).toEqual(['account', 'phone']);
});

const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
const code = fc.stringMatching(/^[1-9]\d\d$/);
const operator = fc.stringMatching(/^[1-9]\d?$/);
/** What people put between the digits, and before and after them. */
const mark = fc.constantFrom(
  '',
  '',
  '',
  ' ',
  '-',
  '.',
  '\u00a0',
  '\u2011',
  '\u200e',
  '\u202c',
  '\u3000',
  '/',
);
const wide = (text: string): string =>
  text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));

test('every international spelling of a number gives the same account, and a national one gives it or asks for the country code', () => {
  const operators = fc.uniqueArray(operator, { minLength: 1, maxLength: 4 });
  const marks = fc.array(mark, { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(
      code,
      operators,
      digits(4, 9),
      marks,
      fc.boolean(),
      (country, [first = '', ...rest], tail, ...how) => {
        const [between, isWide] = how;
        const national = first + tail;
        const prefixes = [first, ...rest].map((one) => country + one);
        const spelled = (text: string): string => {
          const marked =
            [...text].map((one, at) => (between[at] ?? '') + one).join('') + (between.at(-1) ?? '');
          return isWide ? wide(marked) : marked;
        };
        const account = country + national;
        for (const [before, after] of [
          [''],
          ['+'],
          ['00'],
          ['(', ')'],
          ['(+', ')'],
          ['+', '(0)'],
          ['00', '(0)'],
        ])
          expect(read(spelled(`${before}${country}${after ?? ''}${national}`), prefixes)).toBe(account);
        const answer = read(spelled(`0${national}`), prefixes);
        if (answer !== COUNTRY) expect(answer).toBe(account);
      },
    ),
  );
});

test('no digit is dropped or added, except for a leading 00, a leading 0, and a country code from the prefixes', () => {
  const typed = fc.string({ unit: fc.constantFrom(...'000122567+ -.'), maxLength: 12 });
  let accounts = 0;
  fc.assert(
    fc.property(
      typed,
      fc.array(fc.stringMatching(/^[0-2][0-7]{0,3}$/), { maxLength: 3 }),
      (text, prefixes) => {
        const answer = String(read(text, prefixes));
        if (answer.startsWith('account_')) return;
        accounts += 1;
        const all = text.replace(/\D/g, '');
        const codes = prefixes.flatMap((prefix) => [1, 2, 3].map((length) => prefix.slice(0, length)));
        const national = all.startsWith('0') ? ['', ...codes].map((one) => one + all.slice(1)) : [];
        expect([all, ...(all.startsWith('00') ? [all.slice(2)] : []), ...national]).toContain(answer);
        expect(prefixes.length === 0 || prefixes.some((prefix) => answer.startsWith(prefix))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
  expect(accounts).toBeGreaterThan(15);
});

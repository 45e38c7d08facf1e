import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Deviation, ExactWallet } from '../../src/client/client.ts';
import { InvalidResponseError } from '../../src/errors.ts';
import {
  compareDecimals,
  type Decimal,
  formatDecimal,
  parseDecimal,
  sumOf,
} from '../../src/money/decimal.ts';
import { clientAt, failureOf } from './local-service.ts';

// Every balance is an exact string in addition to its number.

const FIELDS = ['available_balance', 'actual_balance', 'uncleared_balance', 'reserve_balance'] as const;
type Balances = Readonly<Record<(typeof FIELDS)[number], string>>;
const balancesOf = (literals: readonly string[]): Balances =>
  Object.fromEntries(FIELDS.map((field, at) => [field, literals[at] ?? '0'])) as Balances;
const NOTHING = balancesOf([]);

/** A wallet as JSON text: its numbers are the given literals. `before` and `after` are further members. */
function row(literals: Balances, before = '', after = ''): string {
  const members = FIELDS.map((field) => `"${field}": ${literals[field]}`).join(',');
  return `{${before}"currency":"UGX","wallet_type":"MERCHANT_COLLECTION",${members}${after}}`;
}

async function walletsOf(
  rows: readonly string[],
  strict = false,
): Promise<{ wallets: ExactWallet[]; deviations: Deviation[] }> {
  const body = `{"code":200,"status":"success","message":"ok","data":{"merchant_wallets":[${rows.join(',')}]}}`;
  const { client, deviations } = clientAt(undefined, { strict, fetch: () => new Response(body) });
  return { wallets: await client.getWalletBalances(), deviations };
}

const amount = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });
/** Members of a wallet with contents that a reader of numbers or strings could misread. */
const odd = fc.constantFrom('"actual_balance": 7', '\\', '\\"', '1', '{"a":-1.5e3}', '"', '/', '\ud800');
const extra = fc
  .dictionary(
    fc.string({ maxLength: 5 }).map((text) => `x${text}`),
    fc.oneof(fc.jsonValue(), odd),
  )
  .map((members) => JSON.stringify(members).slice(1, -1));
/** A decimal that JSON allows. Most are short, so that three of them often add up exactly. */
const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.nat({ max: 30 }).map(String), fc.bigInt({ min: 0n, max: 10n ** 18n }).map(String)),
    fc.oneof(
      fc.constantFrom('', '.0', '.5', '.50'),
      fc.nat().map((digits) => `.${digits}`),
    ),
    fc.constantFrom('', '', '', 'e0', 'E+2', 'e-7', 'e-25', 'e-40', 'e25', 'e-120'),
  )
  .map((parts) => parts.join(''));
const decimal = (text: string): Decimal => parseDecimal(text) ?? expect.fail(`not a decimal: ${text}`);
const wallet: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc.tuple(written, written, written, written),
  // The total equals the first part, or differs from it by the second one.
  fc
    .tuple(written, fc.constantFrom('0', '1e-30', '0.0001', '0.00001'))
    .map(([one, other]) => [one, one, other, '0']),
  // Three parts that add up to the total, or to slightly more or less.
  fc
    .tuple(amount, amount, amount, fc.constantFrom(0n, 0n, 0n, 1n, -1n, 100n))
    .map(([one, other, third, error]) =>
      [one, one + other + third + error, other, third].map((hundredths) => `${hundredths}e-2`),
    ),
);

test('balances of any length and exponent, among any other members, have the canonical strings of their literals, and are reported only where they do not add up', async () => {
  const cases = fc.array(fc.tuple(wallet, extra, extra), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(cases, fc.boolean(), async (all, isStrict) => {
      const rows = all.map(([literals, before, after]) =>
        row(balancesOf(literals), before && `${before},`, after && `,${after}`),
      );
      const { wallets, deviations } = await walletsOf(rows, isStrict);
      const read = all.map(([literals]) => literals.map(decimal));
      expect(wallets.map(({ exact }) => FIELDS.map((field) => exact[field]))).toEqual(
        read.map((decimals) => decimals.map(formatDecimal)),
      );
      const wrong = read.flatMap(([available, actual, ...others], index) =>
        available && actual && compareDecimals(actual, sumOf([available, ...others])) === 0 ? [] : [index],
      );
      const received = 'a number other than available_balance + uncleared_balance + reserve_balance';
      const reportOf = (index: number): Deviation => ({
        ...{ operation: 'getWalletBalances', received, isLeftOut: false },
        path: `data.merchant_wallets[${index}].actual_balance`,
      });
      expect(deviations).toEqual(wrong.map(reportOf));
    }),
    { numRuns: 300 },
  );
});

test('the last value of a repeated name counts, in the number and in the string', async () => {
  const repeated = row({ ...NOTHING, available_balance: '1', actual_balance: '2' })
    .replace('{', '{"merchant_wallets":3,"exact":4,"reserve_balance":5,')
    .replace(/}$/, ',"actual_b\\u0061lance":6}');
  const { wallets } = await walletsOf([repeated]);
  const exact = { actual_balance: '6', reserve_balance: '0' };
  expect(wallets[0]).toMatchObject({ actual_balance: 6, reserve_balance: 0, exact });
});

test.each([
  ['reserve_balance', '1e-2000'],
  ['uncleared_balance', `0.${'1'.repeat(1100)}`],
] as const)('a number with too many digits (%s) refuses the response', async (field, value) => {
  const error = await failureOf(walletsOf([row({ ...NOTHING, [field]: value })]));
  expect(error).toBeInstanceOf(InvalidResponseError);
  const message = `data.merchant_wallets[0].${field}: expected number of at most 1000 digits`;
  expect(String(error)).toContain(message);
});

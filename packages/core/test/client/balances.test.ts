import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Deviation, ExactWallet } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { InvalidResponseError } from '../../src/errors.ts';
import { failureOf } from './failure-of.ts';
import { publicKey, secretKey, wallet } from './wire-samples.ts';

const FIELDS = ['available_balance', 'actual_balance', 'uncleared_balance', 'reserve_balance'] as const;
type Balances = Readonly<Record<(typeof FIELDS)[number], string>>;

/** A wallet as JSON text: its numbers are the given literals. `before` and `after` are further members. */
function row(literals: Balances, before = '', after = ''): string {
  const members = FIELDS.map((field) => `"${field}": ${literals[field]}`).join(',');
  return `{${before}"currency":"UGX","wallet_type":"MERCHANT_COLLECTION",${members}${after}}`;
}

function bodyOf(...rows: readonly string[]): string {
  return `{"code":200,"status":"success","message":"ok","data":{"merchant_wallets":[${rows.join(',')}]}}`;
}

async function walletsOf(
  body: string,
  strict = false,
): Promise<{ wallets: ExactWallet[]; deviations: Deviation[] }> {
  const deviations: Deviation[] = [];
  const client = createClient({
    baseUrl: 'https://service.example',
    publicKey,
    secretKey,
    strict,
    fetch: async () => new Response(body),
    onDeviation: (deviation) => void deviations.push(deviation),
  });
  return { wallets: await client.getWalletBalances(), deviations };
}

/** Hundredths as a decimal literal: 12345 is "123.45". */
function literal(hundredths: bigint): string {
  const digits = String(hundredths < 0n ? -hundredths : hundredths).padStart(3, '0');
  return `${hundredths < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
/** The same in canonical form, computed differently than in the code: a fraction loses its zeros. */
function canonical(hundredths: bigint): string {
  return literal(hundredths)
    .replace(/\.?0+$/, '')
    .replace(/^-?$/, '0');
}

const amount = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });
/** Members of a wallet that hold what a reader of numbers or strings could trip over. */
const extra = fc
  .dictionary(
    fc.string({ maxLength: 5 }).map((name) => `x${name}`),
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('"actual_balance": 7', '\\', '\\"', '1', '{"a":-1.5e3}', '"', '/', '\ud800'),
    ),
  )
  .map((members) => JSON.stringify(members).slice(1, -1));

describe('every balance is an exact string beside its number', () => {
  test('9007199254740993 stays 9007199254740993, although the number differs', async () => {
    const zero = { uncleared_balance: '0', reserve_balance: '0.00' };
    const large = { available_balance: '9007199254740993', actual_balance: '9007199254740993', ...zero };
    const { wallets, deviations } = await walletsOf(bodyOf(row(large)));
    expect(wallets[0]?.exact).toEqual({ ...large, reserve_balance: '0' });
    // The control: what was silent.
    expect(String(wallets[0]?.actual_balance)).toBe('9007199254740992');
    expect(deviations).toEqual([]);
  });

  test('any balances in any response are exact, and reported only where they do not add up', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(amount, amount, amount, fc.constantFrom(0n, 0n, 0n, 1n, -1n, 100n), extra, extra), {
          maxLength: 5,
        }),
        fc.boolean(),
        async (cases, strict) => {
          const rows = cases.map(([available, uncleared, reserve, error, before, after]) => {
            const literals = {
              available_balance: literal(available),
              actual_balance: literal(available + uncleared + reserve + error),
              uncleared_balance: literal(uncleared),
              reserve_balance: literal(reserve),
            };
            return row(literals, before && `${before},`, after && `,${after}`);
          });
          const { wallets, deviations } = await walletsOf(bodyOf(...rows), strict);
          expect(wallets.map(({ exact }) => exact)).toEqual(
            cases.map(([available, uncleared, reserve, error]) => ({
              available_balance: canonical(available),
              actual_balance: canonical(available + uncleared + reserve + error),
              uncleared_balance: canonical(uncleared),
              reserve_balance: canonical(reserve),
            })),
          );
          const odd = cases.flatMap(([, , , error], index) => (error === 0n ? [] : [index]));
          expect(deviations).toEqual(
            odd.map((index) => ({
              operation: 'getWalletBalances',
              path: `data.merchant_wallets[${index}].actual_balance`,
              received: 'another number than available_balance + uncleared_balance + reserve_balance',
              isLeftOut: false,
            })),
          );
        },
      ),
    );
  });

  test.each([
    ['5e2', '500'],
    ['5E+2', '500'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0.1', '0.1'],
    ['1.50', '1.5'],
    ['1e-7', '0.0000001'],
    ['0e-2000', '0'],
    ['123456789012345678901234567890.12', '123456789012345678901234567890.12'],
  ])('the literal %s is %s', async (written, exact) => {
    const body = bodyOf(
      row({
        available_balance: written,
        actual_balance: written,
        uncleared_balance: '0',
        reserve_balance: '0',
      }),
    );
    const { wallets, deviations } = await walletsOf(body);
    expect([wallets[0]?.exact.available_balance, wallets[0]?.exact.actual_balance]).toEqual([exact, exact]);
    expect(deviations).toEqual([]);
  });

  test('the last value of a repeated name counts, in the number and in the string', async () => {
    const { wallets } = await walletsOf(
      bodyOf(
        row({ available_balance: '1', actual_balance: '2', uncleared_balance: '0', reserve_balance: '0' })
          .replace('{', '{"merchant_wallets":3,"exact":4,"reserve_balance":5,')
          .replace(/}$/, ',"actual_b\\u0061lance":6}'),
      ),
    );
    expect(wallets[0]).toMatchObject({ actual_balance: 6, reserve_balance: 0 });
    expect(wallets[0]?.exact).toMatchObject({ actual_balance: '6', reserve_balance: '0' });
  });

  test.each([
    ['reserve_balance', '1e-2000'],
    ['uncleared_balance', `0.${'1'.repeat(1100)}`],
  ] as const)('a number with too many digits (%s) refuses the response', async (field, value) => {
    const literals = {
      available_balance: '0',
      actual_balance: '0',
      uncleared_balance: '0',
      reserve_balance: '0',
    };
    const call = walletsOf(bodyOf(row({ ...literals, [field]: value })));
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain(
      `data.merchant_wallets[0].${field}: expected number of at most 1000 digits`,
    );
  });
});

describe('without onDeviation, the console gets one warning for balances that do not add up', () => {
  const warn = vi.spyOn(console, 'warn');
  beforeEach(() => {
    warn.mockReset().mockImplementation(() => {});
  });
  afterAll(() => {
    warn.mockRestore();
  });

  test('the warning says that the wallet was kept, and holds no balance', async () => {
    const odd = { ...wallet, actual_balance: 7_654_321 };
    const body = JSON.stringify({ code: 200, status: 'success', data: { merchant_wallets: [odd, odd] } });
    const fetch = async (): Promise<Response> => new Response(body);
    const client = createClient({ baseUrl: 'https://service.example', publicKey, secretKey, fetch });
    expect(await client.getWalletBalances()).toHaveLength(2);
    expect(await client.getWalletBalances()).toHaveLength(2);
    expect(warn.mock.calls).toEqual([
      [
        'getWalletBalances: data.merchant_wallets[0].actual_balance deviates from the contract (received another number ' +
          'than available_balance + uncleared_balance + reserve_balance), and the wallet was kept. Compare it with the ' +
          'merchant dashboard before you rely on it. This client does not repeat the warning for this field.',
      ],
    ]);
  });
});

import { ConfigurationError } from './errors.ts';
import { CURRENCY } from './money/amounts.ts';
import {
  boundedDecimal,
  compareDecimals,
  type Decimal,
  formatDecimal,
  negated,
  productOf,
  sumOf,
} from './money/decimal.ts';
import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  LIST,
  type OptionRule,
  type OptionRules,
  REQUIRED,
} from './options/options.ts';

/** A decimal string ("1999.90"), a bigint, or a number of at most 15 significant digits, in the unit of the balances. */
export type Amount = string | number | bigint;

/** The part of a wallet that a reconciliation reads: `getWalletBalances()` returns such wallets. */
export interface WalletBalance {
  readonly currency: string;
  readonly wallet_type: string;
  /** Canonical decimal strings. `actual_balance` is the sum of all balances in the wallet, including uncleared and reserve. */
  readonly exact: { readonly actual_balance: string };
}

/**
 * Money that reached or left a wallet between two balance inquiries (protocol §2.4), according to the merchant's records:
 * `settled` is a collection and `deposited` a deposit, into the collection wallet; `moved` goes from the collection wallet to
 * the payout wallet; `withdrawn` leaves the collection wallet in another way, which the protocol does not show, such as a
 * settlement to a bank; `paid_out` leaves the payout wallet.
 */
export type MovementKind = 'settled' | 'deposited' | 'moved' | 'withdrawn' | 'paid_out';

/** One movement, or the sum of several. */
export interface Movement {
  readonly kind: MovementKind;
  readonly currency: string;
  /** 0 or more, without the charge. */
  readonly amount: Amount;
  /**
   * How much less than the amount reaches the wallet, or how much more leaves it: one value, or a least and a most. The charge in a
   * callback is not signed, and what `charge_customer` changes is not shown (protocol §2.5).
   *
   * @default anything from nothing to the whole amount
   */
  readonly charge?: Amount | { readonly least: Amount; readonly most: Amount } | undefined;
  /**
   * Whether the later inquiry certainly shows the movement and the earlier one does not. The protocol does not show when a
   * collection is credited. If false, the movement widens the interval, which then also covers the wallet without it.
   *
   * @default false
   */
  readonly isCertain?: boolean | undefined;
}

/** The result for one wallet. Amounts are canonical decimal strings. */
export interface WalletReconciliation {
  readonly currency: string;
  readonly wallet_type: string;
  /** How much the wallet should have gained, according to the movements. Negative if money left it. */
  readonly expected: { readonly least: string; readonly most: string };
  /** How much the wallet gained; undefined if the two inquiries do not show the same wallets of this currency and type. */
  readonly gained: string | undefined;
  /** Above zero: how much the gain exceeds `most`. Below zero: how much it falls short of `least`. */
  readonly unexplained: string | undefined;
  readonly verdict: 'explained' | 'more' | 'less' | 'wallet_missing';
  /** One or two English sentences for a reader. A guess says "probably". */
  readonly message: string;
}

export interface Reconciliation {
  /** Whether the verdict of every wallet is `explained`. */
  readonly isExplained: boolean;
  /** Each wallet of the inquiries and of the movements, by currency and type. */
  readonly wallets: readonly WalletReconciliation[];
}

/** The wallets that a movement changes, and in which direction. */
const EFFECTS: Readonly<Record<MovementKind, readonly (readonly [walletType: string, isGain: boolean])[]>> = {
  settled: [['MERCHANT_COLLECTION', true]],
  deposited: [['MERCHANT_COLLECTION', true]],
  moved: [
    ['MERCHANT_COLLECTION', false],
    ['MERCHANT_PAYOUT', true],
  ],
  withdrawn: [['MERCHANT_COLLECTION', false]],
  paid_out: [['MERCHANT_PAYOUT', false]],
};

const RULES: OptionRules<Movement> = {
  kind: [
    (value) => typeof value === 'string' && Object.hasOwn(EFFECTS, value),
    `one of ${Object.keys(EFFECTS).join(', ')}`,
    REQUIRED,
  ],
  currency: [CURRENCY[0], CURRENCY[1], REQUIRED],
  amount: undefined,
  charge: undefined,
  isCertain: BOOLEAN,
};
const WALLETS: OptionRule = [
  (wallets) => Array.isArray(wallets) && wallets.every(isWallet),
  'a list of wallets from getWalletBalances(), with exact balances',
];
const NOTHING = sumOf([]);

interface Interval {
  readonly least: Decimal;
  readonly most: Decimal;
}

/**
 * Compares two balance inquiries with the movements between them, exactly and never through floats. For each wallet it returns
 * the expected gain as an interval, the actual gain, and what remains unexplained. The wallets come over TLS with the secret
 * key, so a payment that was settled on a forged callback appears here as missing money (threat A56).
 *
 * It assumes nothing that the protocol does not show: a charge that is not given or a movement that is not certain widens the
 * interval. Money that becomes available, clears or leaves the reserve changes no total.
 *
 * @throws {ConfigurationError} When `before` or `after` is not a list of wallets as `getWalletBalances()` returns them.
 * @throws {ConfigurationError} When a movement has an unknown kind or name, or an amount that is inexact or below zero.
 *
 * @example
 * const { wallets } = reconcile(before, after, [
 *   { kind: 'settled', currency: 'UGX', amount: '150000', charge: { least: 0, most: '4500' }, isCertain: true },
 *   { kind: 'moved', currency: 'UGX', amount: '50000', charge: 0, isCertain: true },
 * ]);
 * for (const { message } of wallets) console.info(message);
 */
export function reconcile(
  before: readonly WalletBalance[],
  after: readonly WalletBalance[],
  movements: readonly Movement[],
): Reconciliation {
  const [earlier, later] = [balancesOf('before', before), balancesOf('after', after)];
  const expected = new Map<string, Interval[]>();
  checkArgument('reconcile()', 'movements', movements, LIST);
  for (const [index, movement] of movements.entries()) {
    const range = rangeOf(movement, `movements[${index}].`);
    for (const [walletType, isGain] of EFFECTS[movement.kind])
      add(expected, [movement.currency, walletType], effectOf(range, isGain, movement));
  }
  const keys = [...new Set([...earlier.keys(), ...later.keys(), ...expected.keys()])].sort();
  const wallets = keys.map((key): WalletReconciliation => {
    const [currency = '', wallet_type = ''] = JSON.parse(key) as string[];
    const ranges = expected.get(key) ?? [];
    const least = sumOf(ranges.map((range) => range.least));
    const most = sumOf(ranges.map((range) => range.most));
    const [from, to] = [earlier.get(key) ?? [], later.get(key) ?? []];
    const isMissing = from.length === 0 || from.length !== to.length;
    const gain = isMissing ? undefined : sumOf([...to, ...from.map(negated)]);
    const [verdict, rest] = judge(gain, { least, most });
    const found = {
      currency,
      wallet_type,
      expected: { least: formatDecimal(least), most: formatDecimal(most) },
      gained: gain && formatDecimal(gain),
      unexplained: rest && formatDecimal(rest),
      verdict,
    };
    return { ...found, message: sentenceOf(found) };
  });
  return { isExplained: wallets.every(({ verdict }) => verdict === 'explained'), wallets };
}

/** @param gain Undefined for a missing wallet. */
function judge(
  gain: Decimal | undefined,
  { least, most }: Interval,
): [WalletReconciliation['verdict'], unexplained?: Decimal] {
  if (gain === undefined) return ['wallet_missing'];
  if (compareDecimals(gain, most) > 0) return ['more', sumOf([gain, negated(most)])];
  if (compareDecimals(gain, least) < 0) return ['less', sumOf([gain, negated(least)])];
  return ['explained', NOTHING];
}

/**
 * The actual balances by wallet. The protocol does not show whether an account can have several wallets of one currency and
 * type.
 */
function balancesOf(name: string, wallets: readonly WalletBalance[]): Map<string, Decimal[]> {
  checkArgument('reconcile()', name, wallets, WALLETS);
  const balances = new Map<string, Decimal[]>();
  for (const wallet of wallets) {
    const balance = boundedDecimal(wallet.exact.actual_balance) ?? NOTHING;
    add(balances, [wallet.currency, wallet.wallet_type], balance);
  }
  return balances;
}

function isWallet(wallet: Partial<WalletBalance>): boolean {
  const { currency, wallet_type, exact } = wallet;
  const text: unknown = exact?.actual_balance;
  const isExact = typeof text === 'string' && boundedDecimal(text) !== undefined;
  return typeof currency === 'string' && typeof wallet_type === 'string' && isExact;
}

/** Adds one to those of a wallet, identified by its currency and type. */
function add<T>(known: Map<string, T[]>, wallet: readonly [currency: string, type: string], one: T): void {
  const key = JSON.stringify(wallet);
  const own = known.get(key);
  if (own === undefined) known.set(key, [one]);
  else own.push(one);
}

/** The amount, and the least and the most of its charge. */
function rangeOf(
  movement: Movement,
  prefix: string,
): { readonly amount: Decimal; readonly charge: Interval } {
  checkOptions('reconcile()', movement, RULES, prefix);
  const read = (value: unknown, name: string): Decimal => {
    const decimal = boundedDecimal(value);
    if (decimal !== undefined && !decimal.negative) return decimal;
    const shape =
      'a decimal string such as "1999.90", a bigint, or a number of at most 15 digits, and not below zero';
    throw new ConfigurationError(prefix + name, `${prefix}${name} must be ${shape}.`);
  };
  const { amount: given, charge } = movement;
  const amount = read(given, 'amount');
  if (charge === undefined) return { amount, charge: { least: NOTHING, most: amount } };
  const isRange = typeof charge === 'object' && charge !== null;
  const least = read(isRange ? charge.least : charge, isRange ? 'charge.least' : 'charge');
  const most = isRange ? read(charge.most, 'charge.most') : least;
  if (compareDecimals(least, most) <= 0) return { amount, charge: { least, most } };
  throw new ConfigurationError(`${prefix}charge`, `${prefix}charge.least must not be above charge.most.`);
}

function effectOf(
  { amount, charge }: ReturnType<typeof rangeOf>,
  isGain: boolean,
  { kind, isCertain = false }: Movement,
): Interval {
  // The protocol does not show which of the two wallets bears the charge for a transfer, so each may bear none of it.
  const leastCharge = kind === 'moved' ? NOTHING : charge.least;
  const [least, most] = isGain
    ? [sumOf([amount, negated(charge.most)]), sumOf([amount, negated(leastCharge)])]
    : [negated(sumOf([amount, charge.most])), negated(sumOf([amount, leastCharge]))];
  if (isCertain) return { least, most };
  return { least: least.negative ? least : NOTHING, most: most.negative ? NOTHING : most };
}

/**
 * The exact sum of products: amounts times a quantity, or times a share such as `'0.03'`.
 *
 * @throws {ConfigurationError} When a factor is not an exact decimal.
 *
 * @example
 * sumOfProducts([['1999.90', 2], ['500', 1]]); // '4499.8'
 */
export function sumOfProducts(products: readonly (readonly [Amount, Amount])[]): string {
  checkArgument('sumOfProducts()', 'products', products, PRODUCTS);
  const parts = products.map((factors) => {
    const [left, right] = factors.map(boundedDecimal);
    return productOf(left ?? NOTHING, right ?? NOTHING);
  });
  return formatDecimal(sumOf(parts));
}

const PRODUCTS: OptionRule = [
  (products) =>
    Array.isArray(products) &&
    products.every(
      (pair) => pair.length === 2 && pair.every((one: unknown) => boundedDecimal(one) !== undefined),
    ),
  'a list of pairs of factors, each a decimal string, a bigint, or a number of at most 15 digits',
];

/** An exact decimal string with its digits in groups, such as '5,000,000.5'. */
const grouped = (amount: string): string =>
  new Intl.NumberFormat('en', { maximumFractionDigits: 100 }).format(amount as `${number}`);

function sentenceOf(found: Omit<WalletReconciliation, 'message'>): string {
  const { currency, wallet_type, expected, verdict, gained, unexplained = '0' } = found;
  const wallet = `The wallet ${wallet_type} in ${currency}`;
  if (verdict === 'wallet_missing')
    return `${wallet} is not in both inquiries, so its gain is unknown. Request all balances at both times, without the currency filter.`;
  const { least, most } = expected;
  const range = least === most ? grouped(least) : `${grouped(least)} to ${grouped(most)}`;
  const what = `${wallet} gained ${grouped(gained ?? '')}, and the movements explain ${range}`;
  if (verdict === 'explained') return `${what}: nothing is unexplained.`;
  if (verdict === 'more')
    return `${what}: ${grouped(unexplained)} more than explained. Probably a payment whose callback did not arrive, or a movement that was not given.`;
  return `${what}: ${grouped(unexplained.slice(1))} less than explained. Probably a charge, a withdrawal or a later credit that was not given; otherwise you settled a payment that the service does not have. Compare it with the service's statement before you deliver more.`;
}

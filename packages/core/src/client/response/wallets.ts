import { type Decimal, formatDecimal, isSumOf, parseDecimal } from '../../money/decimal.ts';
import { isObject, membersNamed } from '../../verify/json-members.ts';
import type { ExactBalances, ExactWallet } from '../client.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { MAX_REPORTS, readList, rowsOf, unexpected, WALLETS } from './envelope.ts';

/** Protocol §2.4: `actual_balance` is the sum of all the balances in the wallet. */
const PARTS = ['available_balance', 'uncleared_balance', 'reserve_balance'] as const;
/** No double reaches it, apart from a zero, and adding up larger ones costs more than a response may. */
const MAX_EXPONENT = 1000;

/**
 * Reads the body of a balance inquiry. Each wallet gets its four balances as exact strings, since a double holds 15 digits
 * of them. Parts that do not add up to `actual_balance` are reported, and not refused: a wallet may have balances that the
 * protocol does not show.
 *
 * @throws {AttemptFailure} as `readList()` does.
 */
export function readWallets(text: string, settings: ClientSettings): ExactWallet[] {
  const { operation, name } = WALLETS;
  const wallets = readList(text, WALLETS, settings);
  const quoted = hasLongNumber(text) ? text.replace(LONG_BALANCE, '$1"$2"') : text;
  // No row is left out of a list of balances, so both readings have the same rows.
  const literals = quoted === text ? wallets : rowsOf(quoted, name);
  let reports = 0;
  return wallets.map((wallet, index) => {
    const row = literals[index];
    const literal = isObject(row) ? row : {};
    const path = `data.${name}[${index}].`;
    const { exact, isSum } = readShort(literal) ?? readLong(literal, path);
    if (!isSum && ++reports <= MAX_REPORTS) {
      const received = `another number than ${PARTS.join(' + ')}`;
      settings.onDeviation({ operation, path: `${path}actual_balance`, received, isLeftOut: false });
    }
    return { ...wallet, exact };
  });
}

type Literals = Readonly<Record<PropertyKey, unknown>>;
interface Balances {
  readonly exact: ExactBalances;
  readonly isSum: boolean;
}

/** The four balances, each as `read` returns it. */
const balancesOf = <T>(read: (field: keyof ExactBalances) => T): Record<keyof ExactBalances, T> => ({
  available_balance: read('available_balance'),
  actual_balance: read('actual_balance'),
  uncleared_balance: read('uncleared_balance'),
  reserve_balance: read('reserve_balance'),
});

/** Nearly all balances, in a tenth of the time: added up as whole numbers. */
function readShort(literal: Literals): Balances | undefined {
  const units = (field: keyof ExactBalances): number => unitsOf(literal[field]);
  const rest = PARTS.reduce((sum, part) => sum + units(part), -units('actual_balance'));
  if (Number.isNaN(rest)) return undefined;
  // What JSON.parse has read from at most 15 digits has these digits as its shortest string.
  return { exact: balancesOf((field) => String(literal[field])), isSum: rest === 0 };
}

/** @throws {AttemptFailure} if a balance is too long. */
function readLong(literal: Literals, path: string): Balances {
  const decimals = balancesOf((field): Decimal => {
    const decimal = parseDecimal(String(literal[field]));
    if (decimal !== undefined && Math.abs(decimal.exponent) <= MAX_EXPONENT) return decimal;
    throw unexpected(`${path}${field}`, `number of at most ${MAX_EXPONENT} digits`, 'a longer one');
  });
  const parts = PARTS.map((part) => decimals[part]);
  return {
    exact: balancesOf((field) => formatDecimal(decimals[field])),
    isSum: isSumOf(decimals.actual_balance, parts),
  };
}

const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
/** Units of four decimal places, of which 15 digits are exact. */
const UNITS = 1e4;
const MAX_UNITS = 1e15;

/** A number in whole units. NaN if it has more places or digits, or if LONG_BALANCE has found it, which makes it a string. */
function unitsOf(value: unknown): number {
  if (typeof value !== 'number') return Number.NaN;
  const units = Math.round(value * UNITS);
  // A quotient of whole numbers is the double nearest to it, as a literal is.
  return units / UNITS === value && Math.abs(units) < MAX_UNITS ? units : Number.NaN;
}

/** Whether LONG_BALANCE may find something. Of 16 digits in a row, one has an index that is a multiple of 16. */
function hasLongNumber(text: string): boolean {
  const isDigit = (at: number): boolean => {
    const code = text.charCodeAt(at);
    return code === POINT || (code >= ZERO && code <= NINE);
  };
  for (let at = 0; at < text.length; at += 16) {
    let digits = 0;
    for (let back = at; isDigit(back); back--) digits++;
    if (digits === 0) continue;
    for (let on = at + 1; isDigit(on); on++) digits++;
    if (digits >= 16) return true;
  }
  return /\d[eE][-+]?\d{3}/.test(text);
}

/**
 * A balance, in JSON that JSON.parse has accepted, of more digits or a larger exponent than a double is sure to keep. The first
 * quotation mark of a name never follows a backslash. (`context.source` of a reviver would give the digits as well, from Node 21.)
 */
const LONG_BALANCE = new RegExp(
  `(?<!\\\\)(${membersNamed([...PARTS, 'actual_balance'], 'g').source}\\s*)(-?(?:[\\d.]{16}|[\\d.]+[eE][-+]?\\d{3})[-+.\\deE]*)`,
  'g',
);

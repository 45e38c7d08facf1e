import { type Decimal, formatDecimal, isSumOf, parseDecimal } from '../../money/decimal.ts';
import { membersNamed } from '../../verify/json-members.ts';
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
  const quoted = text.replace(LONG_BALANCE, '$1"$2"');
  // No row is left out of a list of balances, so both readings have the same rows.
  const literals = quoted === text ? wallets : rowsOf(quoted, name);
  let reports = 0;
  return wallets.map((wallet, index) => {
    const row = `data.${name}[${index}]`;
    const read = (field: keyof ExactBalances): Decimal => exactFrom(literals[index], field, row);
    const actual = read('actual_balance');
    const parts = PARTS.map(read);
    if (!isSumOf(actual, parts) && ++reports <= MAX_REPORTS) {
      const received = `another number than ${PARTS.join(' + ')}`;
      settings.onDeviation({ operation, path: `${row}.actual_balance`, received, isLeftOut: false });
    }
    const [available_balance = '', uncleared_balance = '', reserve_balance = ''] = parts.map(formatDecimal);
    const exact = {
      available_balance,
      actual_balance: formatDecimal(actual),
      uncleared_balance,
      reserve_balance,
    };
    return { ...wallet, exact };
  });
}

function exactFrom(literals: unknown, field: string, row: string): Decimal {
  const literal: unknown = Reflect.get(Object(literals), field);
  const decimal = parseDecimal(String(literal));
  if (decimal !== undefined && Math.abs(decimal.exponent) <= MAX_EXPONENT) return decimal;
  throw unexpected(`${row}.${field}`, `number of at most ${MAX_EXPONENT} digits`, 'a longer one');
}

/**
 * A balance, in JSON that JSON.parse has accepted, of more digits or a larger exponent than a double is sure to keep. The first
 * quotation mark of a name never follows a backslash. (`context.source` of a reviver would give the digits as well, from Node 21.)
 */
const LONG_BALANCE = new RegExp(
  `(?<!\\\\)(${membersNamed([...PARTS, 'actual_balance'], 'g').source})(-?(?:[\\d.]{16}|[\\d.]+[eE][-+]?\\d{3})[-+.\\deE]*)`,
  'g',
);

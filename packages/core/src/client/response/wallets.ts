import {
  boundedDecimal,
  compareDecimals,
  type Decimal,
  formatDecimal,
  MAX_EXPONENT,
  sumOf,
} from '../../money/decimal.ts';
import { membersNamed } from '../../verify/json-members.ts';
import type { ExactBalances, ExactWallet } from '../client.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { MAX_REPORTS, readList, rowsOf, unexpected, WALLETS } from './envelope.ts';

/** Protocol §2.4: `actual_balance` is the sum of all the balances in the wallet. */
const PARTS = ['available_balance', 'uncleared_balance', 'reserve_balance'] as const;

/**
 * Reads the body of a balance inquiry. Each wallet gets its four balances as exact strings, since a double is exact for only 15
 * digits. Parts that do not add up to `actual_balance` are reported but not refused: a wallet may have balances that the
 * protocol does not show.
 *
 * @throws {AttemptFailure} like `readList()`.
 */
export function readWallets(text: string, settings: ClientSettings): ExactWallet[] {
  const { operation, name } = WALLETS;
  const wallets = readList(text, WALLETS, settings);
  // No row is left out of a list of balances, so both readings have the same rows.
  const literals = rowsOf(text.replace(BALANCE, '$1"$2"'), name);
  let reports = 0;
  return wallets.map((wallet, index) => {
    const path = `data.${name}[${index}].`;
    const read = (field: keyof ExactBalances): Decimal => {
      const decimal = boundedDecimal(Object(literals[index])[field]);
      if (decimal !== undefined) return decimal;
      throw unexpected(`${path}${field}`, `number of at most ${MAX_EXPONENT} digits`, 'a longer one');
    };
    const [total, parts] = [read('actual_balance'), PARTS.map(read)];
    if (compareDecimals(total, sumOf(parts)) !== 0 && ++reports <= MAX_REPORTS) {
      const received = `a number other than ${PARTS.join(' + ')}`;
      settings.onDeviation({ operation, path: `${path}actual_balance`, received, isLeftOut: false });
    }
    const [available_balance = '', uncleared_balance = '', reserve_balance = ''] = parts.map(formatDecimal);
    const actual_balance = formatDecimal(total);
    return { ...wallet, exact: { available_balance, actual_balance, uncleared_balance, reserve_balance } };
  });
}

/**
 * A balance, in JSON that JSON.parse has accepted. The first quotation mark of a name never follows a backslash.
 * (From Node 21, `context.source` of a reviver would also give the digits.)
 */
const BALANCE = new RegExp(
  `(?<!\\\\)(${membersNamed([...PARTS, 'actual_balance'], 'g').source}\\s*)(-?\\d[-+.\\deE]*)`,
  'g',
);

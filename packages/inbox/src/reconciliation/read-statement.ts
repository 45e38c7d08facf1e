import { ConfigurationError } from '@payment-service/core';
import type { BalanceOptions } from './balances.ts';
import { readCsv, type Separator } from './csv.ts';
import type { StatementRow } from './statement.ts';

export const SEPARATORS: Readonly<Record<string, Separator>> = { comma: ',', semicolon: ';', tab: '\t' };

/** Strings by their names, such as `amount=Total,currency=Code`. */
export type Pairs = Readonly<Record<string, string>>;

/** What an operator states about a file: the protocol shows none of it. */
export interface StatementFormat {
  /** By field, the column that has it. */
  readonly map: Pairs;
  /** By field, the value of every row. */
  readonly set: Pairs;
  /** How the file spells the status of a paid row. */
  readonly paid: string;
  /** A name of `SEPARATORS`. */
  readonly separator: string;
}

/** @throws {ConfigurationError} For a file that cannot be read, and for a column that is missing. */
export function readStatement(
  bytes: Uint8Array,
  { map, set, paid, separator }: StatementFormat,
): StatementRow[] {
  const records = readCsv(textIn(bytes), SEPARATORS[separator] ?? ',');
  const [first] = records;
  if (first !== undefined && !Object.values(map).every((column) => Object.hasOwn(first, column)))
    throw new ConfigurationError('map', 'The statement has no column with a name that you gave.');
  return records.map((record) => {
    const given = Object.entries(map).map(([field, column]) => [field, record[column] ?? '']);
    const fields: Record<string, string> = {
      ...set,
      ...Object.fromEntries(given.filter(([, text]) => text !== '')),
    };
    // COMPLETED is then another word of this statement, and refused.
    if (fields['transaction_status'] === paid) fields['transaction_status'] = 'COMPLETED';
    else if (fields['transaction_status'] === 'COMPLETED') delete fields['transaction_status'];
    // A field that is missing is a verdict of its row.
    return fields as Partial<StatementRow> as StatementRow;
  });
}

function textIn(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigurationError('statement', 'The statement is not UTF-8. Export it again, as UTF-8.');
  }
}

/** undefined unless it is `name=value`, or several of these separated by commas. */
export function pairsIn(text: string): Pairs | undefined {
  const parts = text.split(',').map((part) => /^\s*([^=]+)=(.+)$/.exec(part));
  if (parts.includes(null)) return undefined;
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
}

/** From `UGX=0..0.03`, the least and the most; from `UGX=0`, both. Checked where they are used. */
export function chargesIn(pairs: Pairs = {}): NonNullable<BalanceOptions['charges']> {
  const shares = Object.entries(pairs).map(([currency, range]) => {
    const [least = '', most = least] = range.split('..');
    return [currency, { least, most }];
  });
  return Object.fromEntries(shares);
}

/** The effects of transaction types: a collection settles unless stated otherwise. Checked where they are used. */
export const kindsIn = (pairs: Pairs = {}): NonNullable<BalanceOptions['kinds']> =>
  ({ COLLECTION: 'settled', ...pairs }) as NonNullable<BalanceOptions['kinds']>;

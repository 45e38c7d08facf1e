import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { printableLines } from '@payment-service/core/internal';
import type { Movement } from '@payment-service/core/reconcile';
import { Argument, InvalidArgumentError } from 'commander';
import type { ActionNote } from '../operator/action-log.ts';
import { DECIMALS } from '../reconciliation/amount-text.ts';
import { type BalanceReport, type Period, readReport } from '../reconciliation/balances.ts';
import { ENCODINGS } from '../reconciliation/decoded.ts';
import { chargesIn, kindsIn, type Pairs, pairsIn } from '../reconciliation/pairs.ts';
import {
  COLUMN_FIELDS,
  type HowRead,
  previewFields,
  readStatement,
  SEPARATORS,
  type StatementFormat,
} from '../reconciliation/read-statement.ts';
import { reconcileStatement } from '../reconciliation/reconcile-statement.ts';
import type { StatementReport } from '../reconciliation/statement.ts';
import { WrongUse } from './failure.ts';
import { paragraphs, table } from './format.ts';
import { type OpenOptions, withInbox, withTables } from './open-inbox.ts';
import { type AddVerb, moment, named, option, required, upTo, verb } from './verbs.ts';

const BEFORE = 'how long before its settlement here a collection may be credited';

/** A report, and how its file was read. */
type Compared = StatementReport & { readonly read: HowRead };

interface Given extends StatementFormat, Period, Partial<ActionNote> {
  readonly account?: string;
  readonly transaction_type?: string;
  readonly apply?: true;
  readonly creditedBefore?: number;
  readonly creditedAfter?: number;
  readonly charge?: Pairs;
  readonly kind?: Pairs;
  readonly movements?: string;
}

const pairs = (text: string, known?: Pairs): Pairs => {
  const found = pairsIn(text);
  if (found !== undefined) return { ...known, ...found };
  throw new InvalidArgumentError('It must be name=value, or several of these separated by commas.');
};
const ofFields = (text: string, known?: Pairs): Pairs => {
  const given = pairs(text, known);
  if (Object.keys(given).every((name) => COLUMN_FIELDS.includes(name))) return given;
  const fields = COLUMN_FIELDS.join(', ');
  throw new InvalidArgumentError(`It names an unknown field. Known fields: ${fields}.`);
};
const seconds = upTo(999_999_999, 0);

/** `reconcile`: compares a statement, or two balance inquiries, with what was settled. */
export const RECONCILE: AddVerb = verb({
  name: 'reconcile',
  about: 'compares a statement, or the recorded balances, with what was settled; exit code 3 if they differ',
  argument: new Argument('[file]', 'a CSV file with a header; without it, the balances are compared'),
  options: [
    required('--from <date>', 'the start of the period', moment),
    required('--to <date>', 'its end, exclusive', moment),
    option('--map <field=column,…>', `which column is which of ${COLUMN_FIELDS.join(', ')}`, ofFields, {}),
    option('--set <field=value,…>', 'the value of every row, for a field without a column', ofFields, {}),
    option('--paid <string>', 'how the statement spells the status of a paid row', undefined, 'COMPLETED'),
    option('--separator <name>', 'between two columns; found without it').choices(Object.keys(SEPARATORS)),
    option('--decimal <mark>', 'in front of decimals; groups of three digits are read with it').choices(
      DECIMALS,
    ),
    option('--encoding <name>', 'of the file; utf-8 or its byte order mark without it').choices(ENCODINGS),
    option(
      '--header-at <number>',
      'the line with the names of the columns; found without it',
      upTo(1_000_000),
    ),
    named('account', option('--of-account <string>', 'the required value of the column account')),
    named('transaction_type', option('--type <type>', 'the only transaction_type that the statement lists')),
    option('--by <name>', 'who acts; required with a statement'),
    option('--note <string>', 'why; required with a statement'),
    option('--apply', 'settle payments of the statement that have no callback here'),
    option('--credited-before <seconds>', BEFORE, seconds),
    option('--credited-after <seconds>', 'how long after it', seconds),
    option('--charge <currency=least..most>', 'the share kept as a charge, such as UGX=0..0.03', pairs),
    option('--kind <type=kind>', 'what a transaction type does, such as PAYOUT=paid_out', pairs),
    option('--movements <path>', 'a JSON list of deposits, transfers, withdrawals and payouts'),
  ],
  run: (own: Given, open, path): Promise<Compared | BalanceReport> =>
    path === undefined ? balances(own, open) : statement(own, open, path),
  format: (report) => ('wallets' in report ? formatBalances(report) : formatStatement(report)),
  needsPerson: (report) => !('wallets' in report ? report.isExplained : report.isClean),
});

async function statement(given: Given, open: OpenOptions, path: string): Promise<Compared> {
  const { from, to, by = '', note = '', account, transaction_type, apply } = given;
  const { map, set, paid, separator, decimal, encoding, headerAt } = given;
  const format = { map, set, paid, separator, decimal, encoding, headerAt };
  const { rows, ...read } = await readStatement(createReadStream(path), format);
  const options = { from, to, account, transaction_type, by, note, dryRun: apply !== true };
  // Before anything is applied.
  if (apply) console.error(formatRead(read));
  const report = apply
    ? await withInbox(open, (inbox) => inbox.reconcileStatement(rows, options))
    : await withTables(open, (opened) => reconcileStatement(opened, rows, options));
  return { ...report, read };
}

async function balances(given: Given, open: OpenOptions): Promise<BalanceReport> {
  const { from, to, creditedBefore: secondsBefore, creditedAfter: secondsAfter, movements: path } = given;
  if (secondsBefore === undefined || secondsAfter === undefined) {
    const what = 'The protocol does not show when a collection is credited';
    throw new WrongUse(`${what}: pass --credited-before and --credited-after.`);
  }
  const movements = path === undefined ? [] : (JSON.parse(await readFile(path, 'utf8')) as Movement[]);
  const inputs = { charges: chargesIn(given.charge), kinds: kindsIn(given.kind), movements };
  const creditedWithin = { secondsBefore, secondsAfter };
  return withTables(open, (opened) => readReport(opened, { from, to, creditedWithin, ...inputs }));
}

/** How a file was read, with its first rows: an operator sees what each column became. */
function formatRead(read: HowRead): string {
  const { encoding, separator, headerAt, preview } = read;
  const fields = previewFields(read);
  return paragraphs(
    `Read as ${encoding}, with a ${separator} between columns and their names in line ${headerAt}. The first rows:`,
    table(
      fields,
      preview.map((row) => fields.map((field) => String(row[field] ?? ''))),
    ),
  );
}

function formatStatement({ counts, samples, dryRun, applied, rows, read }: Compared): string {
  const others = samples.filter(({ verdict }) => verdict !== 'settled' && verdict !== 'not_paid');
  const { debits, atTheEnd } = read.leftOut;
  return paragraphs(
    dryRun ? formatRead(read) : '',
    table(
      ['verdict', 'rows'],
      Object.entries(counts).map(([verdict, count]) => [verdict, String(count)]),
    ),
    table(
      ['row', 'verdict', 'merchant_reference', 'detail'],
      others.map((one) => [String(one.row ?? '-'), one.verdict, one.merchant_reference, one.detail ?? '']),
    ),
    `${rows} rows; ${applied} ${dryRun ? 'would be settled by --apply' : 'settled by their rows'}.`,
    debits + atTheEnd > 0
      ? `Left out: ${debits} debits, and ${atTheEnd} lines after the last payment, such as a total.`
      : '',
  );
}

function formatBalances({ wallets, before, after, uncounted }: BalanceReport): string {
  const lines = [
    `From ${before.toISOString()} to ${after.toISOString()}, when balances were recorded:`,
    ...wallets.map(({ message }) => message),
    ...uncounted.map(
      ({ count, transaction_type, currency, amount }) =>
        `Not counted: ${count} of type ${transaction_type}, ${amount} ${currency}. See --kind.`,
    ),
  ];
  return lines.map(printableLines).join('\n');
}

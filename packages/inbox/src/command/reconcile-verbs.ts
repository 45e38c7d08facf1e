import { createReadStream } from 'node:fs';
import { open as openFile, readFile } from 'node:fs/promises';
import { printableLines } from '@payment-service/core/internal';
import type { Movement } from '@payment-service/core/reconcile';
import { csvLine } from '@payment-service/pages/text';
import { Argument, InvalidArgumentError } from 'commander';
import type { ActionNote } from '../action-note.ts';
import { type BalanceReport, type Period, readReport } from '../reconciliation/balance-report.ts';
import { DECIMALS } from '../reconciliation/reading/amount-text.ts';
import { ENCODINGS } from '../reconciliation/reading/encodings.ts';
import { SEPARATOR_NAMES } from '../reconciliation/reading/file-records.ts';
import { keepFormat, readFormats } from '../reconciliation/reading/kept-formats.ts';
import { chargesIn, kindsIn, type Pairs, pairsIn } from '../reconciliation/reading/name-value-pairs.ts';
import { type HowRead, previewFields, readStatement } from '../reconciliation/reading/read-statement.ts';
import {
  COLUMN_FIELDS,
  FORMAT_RULES,
  type StatementFormat,
} from '../reconciliation/reading/statement-format.ts';
import { reconcileStatement } from '../reconciliation/reconcile-statement.ts';
import type { StatementOptions, StatementReport } from '../reconciliation/statement-report.ts';
import {
  FINDING_COLUMNS,
  findingCells,
  needsLook,
  occurring,
  readingOf,
  sentencesOf,
} from '../reconciliation/statement-words.ts';
import { STATUS_MEANINGS } from '../states.ts';
import { messageOf, WrongUse } from './failure.ts';
import { paragraphs, table } from './format.ts';
import { type OpenOptions, withInbox, withTables } from './open-inbox.ts';
import { type AddVerb, endMoment, moment, named, option, quoted, required, upTo, verb } from './verbs.ts';

/** How many characters of a file of verdicts are written together. */
const PIECE = 65_536;
const BEFORE = 'how long before its settlement here a collection may be credited';

/** How the words of the file are stated. */
const FLAGS = { transaction_status: 'with --paid or --status', direction: 'with --in or --out' };

/** A report, and how its file was read. */
type Compared = StatementReport & { readonly read: HowRead };

interface Given extends StatementFormat, Period, Partial<ActionNote> {
  readonly bank?: string;
  readonly save?: string;
  readonly verdicts?: string;
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
const words = (text: string, known: readonly string[] = []): readonly string[] => [...known, text];
const seconds = upTo(999_999_999, 0);

/** `reconcile`: compares a statement, or two balance inquiries, with what was settled. */
export const RECONCILE: AddVerb = verb({
  name: 'reconcile',
  about: 'compares a statement, or the recorded balances, with what was settled; exit code 3 if they differ',
  argument: new Argument('[file]', 'a CSV file; without it, the recorded balances are compared'),
  options: [
    required('--from <date>', 'the start of the period', moment),
    required('--to <date>', 'the end of the period; a date without a time includes its day', endMoment),
    option(
      '--map <field=column,…>',
      `the column of each field, by its name or a number such as #3; fields: ${COLUMN_FIELDS.join(', ')}`,
      ofFields,
    ),
    option('--set <field=value,…>', 'the value of a field in lines where its cell is empty', ofFields),
    option('--paid <string>', 'the status of a paid line in the statement; COMPLETED by default'),
    named(
      'statuses',
      option(
        '--status <word=meaning,…>',
        `what its other statuses mean: ${STATUS_MEANINGS.join(', ')}`,
        pairs,
      ),
    ),
    option('--in <word>', 'a word for money in, in the column direction; may be repeated', words),
    option('--out <word>', 'a word for money out; may be repeated', words),
    option('--separator <name>', 'what is between two columns; detected by default').choices(SEPARATOR_NAMES),
    option('--quotes <how>', 'with text, quotation marks are ordinary characters').choices(['text']),
    option('--decimal <mark>', 'in front of decimals; with it, groups of three digits are read').choices(
      DECIMALS,
    ),
    option('--encoding <name>', 'of the file; utf-8 or its byte order mark by default').choices(ENCODINGS),
    option(
      '--header-at <number>',
      'the line with the column names; detected by default; 0 for a file without names',
      upTo(1_000_000, 0),
    ),
    option('--save <name>', 'keeps how this file is read under the name of its bank'),
    option('--bank <name>', 'reads the file as kept under this name'),
    option('--verdicts <path>', 'writes a CSV file with the verdict of each line, in file order'),
    named('account', option('--of-account <string>', 'the required value of the column account')),
    named('transaction_type', option('--type <type>', 'the only transaction_type that the statement lists')),
    option('--by <name>', 'who acts; required with a statement'),
    option('--note <string>', 'why; required with a statement'),
    option('--apply', 'settles payments of the statement that have no callback here'),
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
  const { from, to, by = '', note = '', account, transaction_type, apply, bank, save, verdicts } = given;
  const own = Object.fromEntries(Object.keys(FORMAT_RULES).map((name) => [name, given[name as 'map']]));
  const stated = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const format: StatementFormat = {
    map: {},
    ...(bank === undefined ? {} : await keptAs(bank, open)),
    ...stated,
  };
  const { lines, ...read } = await readStatement(createReadStream(path), format);
  if (Object.keys(format.map).length === 0) throw new WrongUse(columnsOf(read));
  // Before anything is applied.
  if (apply) console.error(formatRead(read));
  const compare = (onFinding?: StatementOptions['onFinding']): Promise<StatementReport> => {
    const options = { from, to, account, transaction_type, by, note, dryRun: apply !== true, onFinding };
    return apply
      ? withInbox(open, (inbox) => inbox.reconcileStatement(lines, options))
      : withTables(open, (opened) => reconcileStatement(opened, lines, options));
  };
  const report = await (verdicts === undefined ? compare() : writingVerdicts(verdicts, compare));
  if (save !== undefined) await withTables(open, (opened) => keepFormat(opened, save, format));
  return { ...report, read };
}

/** Writes the verdict of each line into a new file. */
async function writingVerdicts(
  path: string,
  compare: (onFinding: StatementOptions['onFinding']) => Promise<StatementReport>,
): Promise<StatementReport> {
  const file = await openFile(path, 'wx');
  try {
    let text = csvLine(FINDING_COLUMNS);
    const report = await compare(async (finding) => {
      text += csvLine(findingCells(finding));
      if (text.length < PIECE) return;
      await file.appendFile(text);
      text = '';
    });
    await file.appendFile(text);
    return report;
  } finally {
    await file.close();
  }
}

async function keptAs(bank: string, open: OpenOptions): Promise<StatementFormat> {
  const kept = await withTables(open, (opened) => readFormats(opened));
  const names = Object.keys(kept);
  const format = Object.hasOwn(kept, bank) ? kept[bank] : undefined;
  if (format !== undefined) return format;
  throw new WrongUse(
    `Nothing is kept for the bank ${bank}. ${names.length === 0 ? 'Keep one with --save.' : `Kept: ${names.join(', ')}.`}`,
  );
}

/** Which columns a file has, and a proposal that an operator can correct: nothing applies it. */
function columnsOf({ columns, proposed }: HowRead): string {
  const map = Object.entries(proposed).map(([field, column]) => `${field}=${column}`);
  return [
    'Use --map to say which column is which.',
    `The file has ${columns.map((name, place) => `#${place + 1} ${name}`).join(', ')}.`,
    ...(map.length === 0 ? [] : [`Probably: --map ${quoted(map.join(','))}`]),
  ].join('\n');
}

async function balances(given: Given, open: OpenOptions): Promise<BalanceReport> {
  const { from, to, creditedBefore: secondsBefore, creditedAfter: secondsAfter, movements: path } = given;
  if (secondsBefore === undefined || secondsAfter === undefined) {
    const what = 'The protocol does not show when a collection is credited';
    throw new WrongUse(`${what}: pass --credited-before and --credited-after.`);
  }
  const movements = path === undefined ? [] : movementsIn(await readFile(path, 'utf8'));
  const inputs = { charges: chargesIn(given.charge), kinds: kindsIn(given.kind), movements };
  const creditedWithin = { secondsBefore, secondsAfter };
  return withTables(open, (opened) => readReport(opened, { from, to, creditedWithin, ...inputs }));
}

/** Unchecked: the report names what is wrong in it. */
function movementsIn(text: string): Movement[] {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WrongUse(`--movements must be a JSON list. ${messageOf(cause)}.`, { cause });
  }
}

/** How a file was read, with its first lines: an operator sees what each column became. */
function formatRead(read: HowRead): string {
  const fields = previewFields(read);
  return paragraphs(
    `${readingOf(read)} The first lines:`,
    table(
      ['line', ...fields, 'verdict'],
      read.preview.map(({ line, row, verdict = '' }) => [
        String(line),
        ...fields.map((field) => String(row[field] ?? '')),
        verdict,
      ]),
    ),
  );
}

function formatStatement(report: Compared): string {
  const others = report.samples.filter(needsLook);
  return paragraphs(
    report.dryRun ? formatRead(report.read) : '',
    table(
      ['verdict', 'lines'],
      occurring(report).map(([verdict, count]) => [verdict, String(count)]),
    ),
    table(FINDING_COLUMNS, others.map(findingCells)),
    sentencesOf(report, FLAGS).join('\n'),
    report.dryRun && report.applied > 0 ? 'Settle them with --apply.' : '',
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

import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/receive';
import type { Movement } from '@payment-service/core/reconcile';
import { InvalidArgumentError, Option } from 'commander';
import type { BalanceReport } from '../reconciliation/balances.ts';
import type { StatementReport, StatementRow } from '../reconciliation/statement.ts';
import { readCsv, type Separator } from './csv.ts';
import { printTable } from './print.ts';
import { moment, type Verbs } from './verbs.ts';

const FIELDS = [
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
  'currency',
  'amount',
  'event',
  'account',
] as const satisfies (keyof StatementRow)[];
const SEPARATORS: Readonly<Record<string, Separator>> = { comma: ',', semicolon: ';', tab: '\t' };

type Pairs = Readonly<Record<string, string>>;
interface Given {
  readonly from: Date;
  readonly to: Date;
  readonly map?: Pairs;
  readonly set?: Pairs;
  readonly paid: string;
  readonly separator: string;
  readonly ofAccount?: string;
  readonly type?: string;
  readonly by?: string;
  readonly note?: string;
  readonly apply?: true;
  readonly creditedBefore?: number;
  readonly creditedAfter?: number;
  readonly charge?: Pairs;
  readonly kind?: Pairs;
  readonly movements?: string;
}

const pairs = (text: string, known: Pairs = {}): Pairs => {
  const parts = text.split(',').map((part) => /^([^=]+)=(.+)$/.exec(part));
  const found = parts.map((part) => [part?.[1] ?? '', part?.[2] ?? ''] as const);
  if (parts.includes(null))
    throw new InvalidArgumentError('It must be name=value, and several with a comma between them.');
  return { ...known, ...Object.fromEntries(found) };
};
const ofFields = (text: string): Pairs => {
  const given = pairs(text);
  const unknown = Object.keys(given).find((name) => !FIELDS.some((field) => field === name));
  if (unknown === undefined) return given;
  throw new InvalidArgumentError(
    `It names a field that no statement has here. Known fields: ${FIELDS.join(', ')}.`,
  );
};
const seconds = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
};

/** Adds `reconcile`: a statement, or two balance inquiries, held against what was settled. */
export function addReconcile(verbs: Verbs): void {
  const { program, use } = verbs;
  program
    .command('reconcile')
    .description(
      'holds a statement, or the recorded balances, against what was settled; exit code 3 when they differ',
    )
    .argument('[statement]', 'a CSV file with a header; without it, the balances')
    .requiredOption('--from <date>', 'the begin of the period', moment)
    .requiredOption('--to <date>', 'its end, exclusive', moment)
    .option('--map <field=column,…>', `which column is which of ${FIELDS.join(', ')}`, ofFields)
    .option('--set <field=value,…>', 'what every row is, where the statement has no column', ofFields)
    .option('--paid <text>', 'how the statement spells the status of a paid row', 'COMPLETED')
    .addOption(
      new Option('--separator <name>', 'between two columns')
        .choices(Object.keys(SEPARATORS))
        .default('comma'),
    )
    .option('--of-account <text>', 'what the column account of every row must be')
    .option('--type <type>', 'the only transaction_type that the statement lists')
    .option('--by <name>', 'who acts; required with a statement')
    .option('--note <text>', 'why; required with a statement')
    .option('--apply', 'settle what is paid in the statement and has no callback here')
    .option(
      '--credited-before <seconds>',
      'how long before its settlement here a collection may be credited',
      seconds,
    )
    .option('--credited-after <seconds>', 'how long after it', seconds)
    .option('--charge <currency=least..most>', 'the share kept as a charge, such as UGX=0..0.03', pairs)
    .option('--kind <type=kind>', 'what a transaction type does, such as PAYOUT=paid_out', pairs)
    .option('--movements <path>', 'a JSON list of deposits, transfers, withdrawals and payouts')
    .action(async (path: string | undefined, given: Given) => {
      if (path === undefined) {
        const report = await balances(use, given);
        verbs.needsAttention(!report.isExplained);
        return verbs.tell(report, printBalances);
      }
      const report = await statement(use, path, given);
      verbs.needsAttention(!report.isClean);
      verbs.tell(report, printStatement);
    });
}

type Use = Verbs['use'];

async function statement(use: Use, path: string, given: Given): Promise<StatementReport> {
  const { map = {}, set = {}, paid, from, to, by = '', note = '', ofAccount, type, apply } = given;
  const bytes = await readFile(path);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const records = readCsv(decoder.decode(bytes), SEPARATORS[given.separator] ?? ',');
  const absent = Object.values(map).find(
    (column) => records[0] !== undefined && !Object.hasOwn(records[0], column),
  );
  if (absent !== undefined)
    throw new ConfigurationError('map', 'The statement has no column of a name that --map gives.');
  const rows = records.map((record): StatementRow => {
    const fields: Partial<Record<keyof StatementRow, string>> = { ...set };
    for (const [field, column] of Object.entries(map)) {
      const text = record[column] ?? '';
      if (text !== '') fields[field as keyof StatementRow] = text;
    }
    // COMPLETED is another word of this statement then, and refused.
    if (fields.transaction_status === paid) fields.transaction_status = 'COMPLETED';
    else if (fields.transaction_status === 'COMPLETED') delete fields.transaction_status;
    // A field that is missing is a verdict of its row.
    return fields as StatementRow;
  });
  const period = { from, to, account: ofAccount, transaction_type: type };
  return use((inbox) => inbox.reconcileStatement(rows, { ...period, by, note, dryRun: apply !== true }));
}

async function balances(use: Use, given: Given): Promise<BalanceReport> {
  const { from, to, creditedBefore, creditedAfter, charge = {}, kind, movements: path } = given;
  if (creditedBefore === undefined || creditedAfter === undefined) {
    const what =
      'When a collection is credited is not shown by the protocol: give --credited-before and --credited-after.';
    throw new ConfigurationError('creditedWithin', what);
  }
  const creditedWithin = { secondsBefore: creditedBefore, secondsAfter: creditedAfter };
  const movements = path === undefined ? [] : (JSON.parse(await readFile(path, 'utf8')) as Movement[]);
  const charges = Object.fromEntries(
    Object.entries(charge).map(([currency, range]) => {
      const [least = '', most = least] = range.split('..');
      return [currency, { least, most }];
    }),
  );
  // Checked where they are used.
  const kinds = { COLLECTION: 'settled', ...kind } as Record<string, Movement['kind']>;
  return use((inbox) => inbox.reconcile({ from, to, creditedWithin, charges, movements, kinds }));
}

function printStatement({ counts, samples, dryRun, applied, rows }: StatementReport): void {
  printTable(
    ['verdict', 'rows'],
    Object.entries(counts).map(([verdict, count]) => [verdict, String(count)]),
  );
  const others = samples.filter(({ verdict }) => verdict !== 'settled' && verdict !== 'not_paid');
  if (others.length > 0) {
    console.log();
    printTable(
      ['row', 'verdict', 'merchant_reference', 'detail'],
      others.map(({ row, verdict, merchant_reference, detail }) => [
        row === undefined ? '-' : String(row),
        verdict,
        merchant_reference,
        detail ?? '',
      ]),
    );
  }
  const what = dryRun ? `would be settled by --apply` : 'settled by their rows';
  console.log(`\n${rows} rows; ${applied} ${what}.`);
}

function printBalances({ wallets, before, after, uncounted }: BalanceReport): void {
  console.log(`From ${before.toISOString()} to ${after.toISOString()}, when balances were recorded:`);
  for (const { message } of wallets) console.log(printableLines(message));
  for (const { count, transaction_type, currency, amount } of uncounted)
    console.log(
      printableLines(`Not counted: ${count} of type ${transaction_type}, ${amount} ${currency}. See --kind.`),
    );
}

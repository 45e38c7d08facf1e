import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/internal';
import type { Movement } from '@payment-service/core/reconcile';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { BalanceReport } from '../reconciliation/balances.ts';
import {
  chargesIn,
  kindsIn,
  type Pairs,
  pairsIn,
  readStatement,
  SEPARATORS,
  STATEMENT_FIELDS,
  type StatementFormat,
} from '../reconciliation/read-statement.ts';
import type { StatementReport } from '../reconciliation/statement.ts';
import { withInbox } from './open-inbox.ts';
import { printBelow, printTable } from './print.ts';
import { type Given as Common, moment, option, verb } from './verbs.ts';

interface Given extends Common, StatementFormat {
  readonly from: Date;
  readonly to: Date;
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

const pairs = (text: string, known?: Pairs): Pairs => {
  const found = pairsIn(text);
  if (found !== undefined) return { ...known, ...found };
  throw new InvalidArgumentError('It must be name=value, or several of these separated by commas.');
};
const ofFields = (text: string, known?: Pairs): Pairs => {
  const given = pairs(text, known);
  if (Object.keys(given).every((name) => STATEMENT_FIELDS.some((field) => field === name))) return given;
  const fields = STATEMENT_FIELDS.join(', ');
  throw new InvalidArgumentError(`It names an unknown field. Known fields: ${fields}.`);
};
const seconds = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
};

/** `reconcile`: compares a statement, or two balance inquiries, with what was settled. */
export const RECONCILE: readonly ((program: Command) => void)[] = [
  verb<Given, StatementReport | BalanceReport>({
    name: 'reconcile',
    about:
      'compares a statement, or the recorded balances, with what was settled; exit code 3 if they differ',
    argument: new Argument('[statement]', 'a CSV file with a header; without it, the balances are compared'),
    options: [
      option('--from <date>', 'the start of the period', moment).makeOptionMandatory(),
      option('--to <date>', 'its end, exclusive', moment).makeOptionMandatory(),
      option(
        '--map <field=column,…>',
        `which column is which of ${STATEMENT_FIELDS.join(', ')}`,
        ofFields,
        {},
      ),
      option('--set <field=value,…>', 'the value of every row, for a field without a column', ofFields, {}),
      option('--paid <string>', 'how the statement spells the status of a paid row', undefined, 'COMPLETED'),
      option('--separator <name>', 'between two columns', undefined, 'comma').choices(
        Object.keys(SEPARATORS),
      ),
      option('--of-account <string>', 'the required value of the column account'),
      option('--type <type>', 'the only transaction_type that the statement lists'),
      option('--by <name>', 'who acts; required with a statement'),
      option('--note <string>', 'why; required with a statement'),
      option('--apply', 'settle payments of the statement that have no callback here'),
      option(
        '--credited-before <seconds>',
        'how long before its settlement here a collection may be credited',
        seconds,
      ),
      option('--credited-after <seconds>', 'how long after it', seconds),
      option('--charge <currency=least..most>', 'the share kept as a charge, such as UGX=0..0.03', pairs),
      option('--kind <type=kind>', 'what a transaction type does, such as PAYOUT=paid_out', pairs),
      option('--movements <path>', 'a JSON list of deposits, transfers, withdrawals and payouts'),
    ],
    run: (given, path) => (path === undefined ? balances(given) : statement(given, path)),
    print: (report) => ('wallets' in report ? printBalances(report) : printStatement(report)),
    needsPerson: (report) => !('wallets' in report ? report.isExplained : report.isClean),
  }),
];

async function statement(given: Given, path: string): Promise<StatementReport> {
  const { from, to, by = '', note = '', ofAccount, type, apply } = given;
  const rows = readStatement(await readFile(path), given);
  const period = { from, to, account: ofAccount, transaction_type: type };
  return withInbox(given, (inbox) =>
    inbox.reconcileStatement(rows, { ...period, by, note, dryRun: apply !== true }),
  );
}

async function balances(given: Given): Promise<BalanceReport> {
  const { from, to, creditedBefore, creditedAfter, charge = {}, kind = {}, movements: path } = given;
  if (creditedBefore === undefined || creditedAfter === undefined) {
    const what =
      'The protocol does not show when a collection is credited: pass --credited-before and --credited-after.';
    throw new ConfigurationError('creditedWithin', what);
  }
  const creditedWithin = { secondsBefore: creditedBefore, secondsAfter: creditedAfter };
  const movements = path === undefined ? [] : (JSON.parse(await readFile(path, 'utf8')) as Movement[]);
  const inputs = { charges: chargesIn(charge), kinds: kindsIn(kind), movements };
  return withInbox(given, (inbox) => inbox.reconcile({ from, to, creditedWithin, ...inputs }));
}

function printStatement({ counts, samples, dryRun, applied, rows }: StatementReport): void {
  printTable(
    ['verdict', 'rows'],
    Object.entries(counts).map(([verdict, count]) => [verdict, String(count)]),
  );
  const others = samples.filter(({ verdict }) => verdict !== 'settled' && verdict !== 'not_paid');
  printBelow(
    ['row', 'verdict', 'merchant_reference', 'detail'],
    others.map(({ row, verdict, merchant_reference, detail }) => [
      row === undefined ? '-' : String(row),
      verdict,
      merchant_reference,
      detail ?? '',
    ]),
  );
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

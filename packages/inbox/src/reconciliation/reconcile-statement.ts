import { setImmediate } from 'node:timers/promises';
import { canonicalAmount } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  FUNCTION,
  type OptionRule,
  type OptionRules,
} from '@payment-service/core/internal';
import { NOTE_RULES } from '../action-note.ts';
import type { OperatorContext } from '../operator/reports.ts';
import { BOOLEAN, NAME, STRINGS } from '../option-rules.ts';
import { numberOf, optionalText, type SqlValue, textOf } from '../store/store.ts';
import { jsonTextOf } from '../verdict/stored-values.ts';
import { PERIOD } from './balance-report.ts';
import { applyEntry, entriesOf, findKnown } from './entries.ts';
import { judge } from './judge.ts';
import { type ClassedLine, classOf } from './line-class.ts';
import { type Judged, openStaging, type Staging } from './staging.ts';
import type {
  StatementFinding,
  StatementLine,
  StatementOptions,
  StatementReport,
  StatementRow,
} from './statement-report.ts';
import { Tally } from './tally.ts';

const RULES: OptionRules<StatementOptions> = {
  ...NOTE_RULES,
  ...PERIOD,
  account: NAME,
  transaction_type: NAME,
  dryRun: BOOLEAN,
  only: STRINGS,
  onFinding: FUNCTION,
};
const LINES: OptionRule = [
  (rows) =>
    Array.isArray(rows) ||
    (typeof rows === 'object' && typeof Object(rows)[Symbol.asyncIterator] === 'function'),
  'a list of rows, or the lines of readStatement()',
];
/** A period may hold any number of payments. */
const PAGE = 10_000;
/**
 * Compares a statement with what is known here. Every line of it is classed; then each payment is judged by everything that the
 * file says about its reference and its id, in any order of the lines. It applies nothing unless `dryRun` is false. Then a
 * payment that is expected here with exactly this money becomes the transition that its callback would be, and is processed
 * under the same rules (decision D60). However long the statement is, only a batch of it is in memory (decision D71).
 */
export async function reconcileStatement<Tx>(
  context: OperatorContext<Tx>,
  given: readonly StatementRow[] | AsyncIterable<StatementRow | StatementLine>,
  options: StatementOptions,
): Promise<StatementReport> {
  checkOptions('reconcileStatement()', options, RULES);
  checkArgument('reconcileStatement()', 'rows', given, LINES);
  const { statuses, emit } = context.settings;
  const { account, dryRun = true, onFinding } = options;
  const tally = new Tally();
  const staging = await openStaging();
  const tell = async (judged: Judged): Promise<void> => {
    const finding = findingOf(judged);
    tally.add(finding, judged.lines ?? 1);
    await onFinding?.(finding);
  };
  const books = { staging, tally, tell };
  try {
    let place = 0;
    const take = (one: StatementRow | StatementLine): void => {
      place += 1;
      stage(classOf(lineOf(one, place), statuses, account), place, books);
    };
    // A loop with await would wait for rows that are promises, in place of refusing them.
    if (Array.isArray(given)) for (const one of given) take(one);
    else for await (const one of given) take(one);
    await judgeAll(context, options, books);
    await tellAbsent(context, options, books);
    return tally.report(dryRun, emit);
  } finally {
    staging.close();
  }
}

/** A row of a program is the line of its place. */
function lineOf(given: StatementRow | StatementLine, place: number): StatementLine {
  return 'row' in Object(given) ? (given as StatementLine) : { line: place, row: given as StatementRow };
}

/** What becomes of the lines of one statement. */
interface Books {
  readonly staging: Staging;
  readonly tally: Tally;
  /** Counts a line that is judged, and tells it. */
  readonly tell: (judged: Judged) => Promise<void>;
}

/** Classes a line, before anything is looked up. */
function stage(classed: ClassedLine, place: number, { staging, tally }: Books): void {
  const { line, kind, amount } = classed;
  const { merchant_reference, transaction_type, internal_reference, direction = 'in', currency } = line.row;
  const names = [merchant_reference, transaction_type, internal_reference].map(keyOf);
  const [reference = null, type = null, id = null] = names;
  staging.add(place, line, { reference, type, id, kind, amount: amount ?? null });
  if (line.verdict === 'unknown_status') tally.addWord('transaction_status', line.row.transaction_status);
  if (line.word !== undefined) tally.addWord('direction', line.word);
  const isMoney = kind === 'in' || kind === 'out' || line.verdict === 'charge';
  if (isMoney || kind === 'unclear') tally.addMoney(isMoney ? direction : 'not_understood', currency, amount);
}

const keyOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Judges the payments, settles those that are due, and tells every line in the order of the file. */
async function judgeAll<Tx>(
  context: OperatorContext<Tx>,
  { dryRun = true, only, by, note }: StatementOptions,
  { staging, tally, tell }: Books,
): Promise<void> {
  const entryOf = await entriesOf(context, staging.areIdsRounded());
  for (const batch of staging.payments()) {
    // Money out of a type that the file does not name is judged where it takes a payment back.
    const own = batch.filter(({ line, facts }) => line.verdict === undefined || facts.ins > 0);
    for (const [entry, known] of await findKnown(context, own.map(entryOf))) {
      const { place, line, record, lacks } = entry;
      const [verdict, detail] = judge(entry, known);
      const id = lacks === undefined ? record.transitionId : undefined;
      const isDue = verdict === 'paid_without_callback' && id !== undefined && (only?.includes(id) ?? true);
      const transitionId = known.expectation?.settledBy ?? id;
      staging.judge(place, { ...line, verdict, detail, transitionId }, isDue);
    }
  }
  // Only now: every line has been read and judged.
  for (const batch of staging.due())
    for (const entry of batch.map(entryOf)) {
      const isApplied = dryRun || (await applyEntry(context, entry, { by, note }));
      if (!isApplied) continue;
      tally.applied += 1;
      tally.addMoney('applied', entry.given.currency, canonicalAmount(entry.given.amount));
    }
  for (const batch of staging.judged()) {
    for (const judged of batch) await tell(judged);
    // Nothing here waits for the system: without a pause, the process would receive no callback before the last line.
    await setImmediate();
  }
}

function findingOf({ line, row, verdict, detail, transitionId }: Judged): StatementFinding {
  const { merchant_reference, internal_reference, currency, amount, direction } = row;
  // That of a malformed row may be anything.
  const shown = typeof merchant_reference === 'object' ? '' : String(merchant_reference ?? '');
  const isUnknown = line === undefined || amount === undefined || verdict === 'unknown_direction';
  return {
    ...{ line, verdict, detail, transitionId },
    ...{ merchant_reference: shown, internal_reference, currency, amount },
    direction: direction ?? (isUnknown ? undefined : 'in'),
  };
}

/** Settlements of the period without a line. */
async function tellAbsent<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { from, to, transaction_type: only }: StatementOptions,
  { staging, tell }: Books,
): Promise<void> {
  for (let after: readonly SqlValue[] = [from.getTime(), 0, '', '']; ; ) {
    const [at = 0] = after;
    const rows = await statements.run('list_settled', [settings.account, at, to.getTime(), ...after, PAGE]);
    for (const row of rows) {
      const type = jsonTextOf(row, 'transaction_type');
      const merchant_reference = jsonTextOf(row, 'merchant_reference');
      if (staging.has(merchant_reference, type) || (only ?? type) !== type) continue;
      const transitionId = optionalText(row, 'settled_by');
      const verdict = 'absent_from_statement';
      const money = { currency: textOf(row, 'currency'), amount: textOf(row, 'amount') };
      await tell({ line: undefined, row: { merchant_reference, ...money }, verdict, transitionId });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    const names = ['merchant_reference', 'transaction_type'].map((name) => textOf(last, name));
    after = [numberOf(last, 'at'), numberOf(last, 'is_archived'), ...names];
  }
}

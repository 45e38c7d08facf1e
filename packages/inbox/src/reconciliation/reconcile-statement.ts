import { canonicalAmount } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  FUNCTION,
  type OptionRule,
  type OptionRules,
} from '@payment-service/core/internal';
import { NOTE_RULES } from '../action-note.ts';
import type { OperatorContext } from '../operator/views.ts';
import { BOOLEAN, NAME, STRINGS } from '../option-rules.ts';
import type { StatementVerdict } from '../states.ts';
import { numberOf, optionalText, type SqlValue, textOf } from '../store/store.ts';
import { jsonTextOf } from '../work/verdict/stored.ts';
import { PERIOD } from './balances.ts';
import { applyEntry, entriesOf, findKnown } from './entries.ts';
import { judge, kindOf } from './judge.ts';
import { type Judged, type LineKeys, openStaging, type Staged, type Staging } from './staging.ts';
import {
  type Judgement,
  meaningOf,
  misreadOf,
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementLine,
  type StatementOptions,
  type StatementReport,
  type StatementRow,
} from './statement.ts';
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
  const tally = new Tally();
  const staging = await openStaging();
  try {
    let place = 0;
    const take = (one: StatementRow | StatementLine): void => {
      place += 1;
      stage(context, options, { line: lineOf(one, place), place, staging, tally });
    };
    // A loop with await would wait for rows that are promises, in place of refusing them.
    if (Array.isArray(given)) for (const one of given) take(one);
    else for await (const one of given) take(one);
    await judgeAll(context, options, { staging, tally });
    await addAbsent(context, options, { staging, tally });
    return tally.report(options.dryRun ?? true, context.settings.emit);
  } finally {
    staging.close();
  }
}

/** A row of a program is the line of its place. */
function lineOf(given: StatementRow | StatementLine, place: number): StatementLine {
  return 'row' in Object(given) ? (given as StatementLine) : { line: place, row: given as StatementRow };
}

interface Books {
  readonly staging: Staging;
  readonly tally: Tally;
}

/** Classes a line, before anything is looked up. */
function stage<Tx>(
  { settings: { statuses } }: OperatorContext<Tx>,
  { account }: StatementOptions,
  { line, place, staging, tally }: Books & { readonly line: StatementLine; readonly place: number },
): void {
  const { row } = line;
  const meaning = meaningOf(Object(row), statuses);
  const isOwn = line.verdict === undefined;
  const [verdict = line.verdict, detail = line.detail] =
    (isOwn ? (misreadOf(row, meaning) ?? setAside(row, meaning, account)) : undefined) ?? [];
  const kind = kindIn({ ...line, verdict }, meaning);
  const amount = amountOf(Object(row));
  staging.add(place, { ...line, verdict, detail }, { ...keysIn(row), kind, amount: amount ?? null });
  if (verdict === 'unknown_status') tally.addWord(String(row.transaction_status).slice(0, 40));
  const { direction = 'in', currency }: Partial<StatementRow> = Object(row);
  const isMoney = kind === 'in' || kind === 'out' || verdict === 'charge';
  if (isMoney || kind === 'unclear') tally.addMoney(isMoney ? direction : 'not_understood', currency, amount);
}

/** What a line that can be read is, if it is no payment to judge. */
function setAside(
  { account: own, direction, transaction_type: type }: Partial<StatementRow>,
  meaning: ReturnType<typeof meaningOf>,
  account: string | undefined,
): Judgement | undefined {
  if (account !== undefined && own !== account) return ['other_account'];
  // A collection is money in: perhaps the columns of credit and debit are exchanged.
  return direction === 'out' && meaning === 'paid' && type === 'COLLECTION' ? ['money_out'] : undefined;
}

const keyOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function keysIn(row: Partial<StatementRow>): Omit<LineKeys, 'kind' | 'amount'> {
  const { merchant_reference, transaction_type, internal_reference } = Object(row);
  return {
    reference: keyOf(merchant_reference),
    type: keyOf(transaction_type),
    id: keyOf(internal_reference),
  };
}

function kindIn(
  line: Pick<StatementLine, 'row' | 'verdict'>,
  meaning: ReturnType<typeof meaningOf>,
): LineKeys['kind'] {
  const { verdict, row } = line;
  if (verdict === 'charge') return row.direction === 'out' ? 'charge' : null;
  if (verdict === 'money_out') return 'out';
  if (verdict === undefined) return meaning === undefined ? 'unclear' : kindOf(row, meaning);
  return STATEMENT_VERDICTS[verdict].is === 'not_understood' ? 'unclear' : null;
}

/** Undefined for text that is no amount. */
function amountOf({ amount }: Partial<StatementRow>): string | undefined {
  return typeof amount === 'string' && /^\d{1,40}(?:\.\d{1,40})?$/.test(amount)
    ? canonicalAmount(amount)
    : undefined;
}

/** Judges the payments, settles those that are due, and tells every line in the order of the file. */
async function judgeAll<Tx>(
  context: OperatorContext<Tx>,
  options: StatementOptions,
  { staging, tally }: Books,
): Promise<void> {
  const { dryRun = true, only, by, note } = options;
  const entryOf = await entriesOf(context, staging.areIdsRounded());
  for (const batch of staging.staged()) {
    const own = batch.filter(isJudged);
    const facts = new Map(own.map((each) => [each.place, each.facts]));
    const entries = own.map(({ line, place }) => entryOf(line, place));
    for (const [entry, known] of await findKnown(context, entries)) {
      const { place, record, lacks } = entry;
      const stated = facts.get(place);
      if (stated === undefined) continue;
      const [verdict, detail] = judge(entry, known, stated);
      const id = known.expectation?.settledBy ?? (lacks === undefined ? record.transitionId : undefined);
      staging.judge(place, { verdict, detail, transitionId: id });
      const isDue = verdict === 'paid_without_callback' && lacks === undefined;
      if (isDue && (only === undefined || only.includes(record.transitionId))) staging.mark(place);
    }
  }
  // Only now: every line has been read and judged.
  for (const batch of staging.marked())
    for (const { line, place, facts } of batch) {
      const isApplied = dryRun || (await applyEntry(context, entryOf(line, place), { facts, by, note }));
      if (!isApplied) continue;
      tally.applied += 1;
      tally.addMoney('applied', line.row.currency, amountOf(line.row));
    }
  for (const judged of staging.judged()) {
    const finding = findingOf(judged);
    tally.add(finding, judged.line.lines ?? 1);
    await options.onFinding?.(finding);
  }
}

/** Money out of a type that the file does not name is judged where it takes a payment back. */
const isJudged = ({ line: { verdict }, facts }: Staged): boolean =>
  verdict === undefined || (verdict === 'money_out' && facts.ins > 0);

function findingOf({ line, verdict, detail, transitionId }: Judged): StatementFinding {
  const { merchant_reference, internal_reference, currency, amount, direction }: Partial<StatementRow> =
    Object(line.row);
  // That of a malformed row may be anything.
  const shown = typeof merchant_reference === 'object' ? '' : String(merchant_reference ?? '');
  return {
    ...{ line: line.line, verdict: verdict as StatementVerdict, detail, transitionId },
    ...{ merchant_reference: shown, internal_reference, currency, amount },
    direction: direction ?? (amount === undefined ? undefined : 'in'),
  };
}

/** Settlements of the period without a line. */
async function addAbsent<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { from, to, transaction_type: only, onFinding }: StatementOptions,
  { staging, tally }: Books,
): Promise<void> {
  for (let after: readonly SqlValue[] = [from.getTime(), 0, '', '']; ; ) {
    const [at = 0] = after;
    const rows = await statements.run('list_settled', [settings.account, at, to.getTime(), ...after, PAGE]);
    for (const row of rows) {
      const type = jsonTextOf(row, 'transaction_type');
      const merchant_reference = jsonTextOf(row, 'merchant_reference');
      if (staging.has(merchant_reference, type) || (only ?? type) !== type) continue;
      const finding = {
        ...{ line: undefined, verdict: 'absent_from_statement' as const, merchant_reference },
        ...{
          internal_reference: undefined,
          transitionId: optionalText(row, 'settled_by'),
          detail: undefined,
        },
        ...{ direction: undefined, currency: undefined, amount: undefined },
      } satisfies StatementFinding;
      tally.add(finding, 0);
      await onFinding?.(finding);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    const names = ['merchant_reference', 'transaction_type'].map((name) => textOf(last, name));
    after = [numberOf(last, 'at'), numberOf(last, 'is_archived'), ...names];
  }
}

import { canonicalAmount } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
} from '@payment-service/core/internal';
import { NOTE_RULES } from '../action-note.ts';
import type { Emit } from '../events.ts';
import { keepFirsts } from '../intake/keep.ts';
import { recordOf } from '../intake/record.ts';
import { addAction } from '../operator/action-log.ts';
import type { OperatorContext } from '../operator/views.ts';
import { BOOLEAN, NAME } from '../option-rules.ts';
import type { StatementVerdict } from '../states.ts';
import { numberOf, optionalText, type SqlValue, textOf } from '../store/store.ts';
import { findArchived } from '../work/verdict/archived.ts';
import { expectationIn, jsonTextOf, signedIn } from '../work/verdict/stored.ts';
import { PERIOD } from './balances.ts';
import { openStaging, type Staged, type Staging } from './staging.ts';
import {
  type Entry,
  findingOf,
  judge,
  type Known,
  refusalOf,
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementOptions,
  type StatementReport,
  type StatementRow,
} from './statement.ts';

const RULES: OptionRules<StatementOptions> = {
  ...NOTE_RULES,
  ...PERIOD,
  account: NAME,
  transaction_type: NAME,
  dryRun: BOOLEAN,
};
const ROWS: OptionRule = [
  (rows) =>
    Array.isArray(rows) ||
    (typeof rows === 'object' && typeof Object(rows)[Symbol.asyncIterator] === 'function'),
  'a list, or the rows of readStatement()',
];
/** A period may hold any number of payments. */
const PAGE = 10_000;
/** Replaces the id of a signing key in a body that is a row of a statement, and names its action. */
const STATEMENT = 'statement';
const VERDICTS = Object.keys(STATEMENT_VERDICTS) as StatementVerdict[];
const NONE = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<StatementVerdict, number>;
const MAX_SAMPLES = 20;

/** Counts the verdicts, and keeps the first findings of each. */
class Tally {
  readonly counts: Record<StatementVerdict, number> = { ...NONE };
  readonly #samples = new Map<StatementVerdict, StatementFinding[]>();

  add(finding: StatementFinding): void {
    const { verdict } = finding;
    const samples = this.#samples.get(verdict) ?? [];
    if (this.counts[verdict]++ < MAX_SAMPLES) this.#samples.set(verdict, [...samples, finding]);
  }

  get samples(): StatementFinding[] {
    return [...this.#samples.values()].flat();
  }
}

/**
 * Compares a statement with what is known here, row by row. It applies nothing unless `dryRun` is false. Then a payment that is
 * expected here with exactly this money becomes the transition that its callback would be, and is processed under the same
 * rules (decision D60). However long the statement is, only a batch of it is in memory (decision D71).
 */
export async function reconcileStatement<Tx>(
  context: OperatorContext<Tx>,
  rows: readonly StatementRow[] | AsyncIterable<StatementRow>,
  options: StatementOptions,
): Promise<StatementReport> {
  checkOptions('reconcileStatement()', options, RULES);
  checkArgument('reconcileStatement()', 'rows', rows, ROWS);
  const { dryRun = true } = options;
  const tally = new Tally();
  const staging = await openStaging();
  try {
    let count = 0;
    const take = (row: StatementRow): void => {
      count += 1;
      const [verdict, detail] = refusalOf(row, options) ?? [];
      if (verdict !== undefined) tally.add({ ...findingOf(Object(row), count), verdict, detail });
      const isListed = typeof Object(row).merchant_reference === 'string';
      if (isListed) staging.add(count, row, verdict !== undefined);
    };
    // A loop with await would wait for rows that are promises, in place of refusing them.
    if (Array.isArray(rows)) for (const row of rows) take(row);
    else for await (const row of rows) take(row);
    // A file that is misread settles nothing.
    const isRefused = Object.values(tally.counts).some((found) => found > 0);
    let applied = 0;
    for (const batch of staging.staged()) {
      const paid = new Map(batch.map((staged) => [staged.place, staged.paid]));
      for (const [entry, known] of await find(context, entriesOf(batch, context))) {
        const { row = 0 } = entry.finding;
        const [verdict, detail] = judge(entry, known, paid.get(row) ?? 0);
        const transitionId = known.expectation?.settledBy ?? entry.finding.transitionId;
        tally.add({ ...entry.finding, transitionId, verdict, detail });
        if (isRefused || verdict !== 'paid_without_callback' || entry.lacks !== undefined) continue;
        if (dryRun) applied += 1;
        else staging.mark(row);
      }
    }
    // Only now: every row has been read and judged.
    if (!dryRun)
      for (const batch of staging.marked())
        for (const entry of entriesOf(batch, context))
          applied += (await apply(context, entry, options)) ? 1 : 0;
    await addAbsent(context, options, { staging, tally });
    return reportOf({ applied, dryRun, rows: count }, tally, context.settings.emit);
  } finally {
    staging.close();
  }
}

const entriesOf = <Tx>(batch: readonly Staged[], context: OperatorContext<Tx>): Entry[] =>
  batch.map(({ given, place }) => entryOf(given, place, context));

function entryOf<Tx>(
  given: StatementRow,
  row: number,
  { settings: { account, completedEvents } }: OperatorContext<Tx>,
): Entry {
  const { merchant_reference, internal_reference = '', transaction_type, transaction_status } = given;
  // With several events, it is unknown which one a callback would have.
  const event = given.event ?? (completedEvents.length === 1 ? completedEvents[0] : undefined) ?? '';
  const signed = { event, merchant_reference, internal_reference, transaction_type, transaction_status };
  const lacks = internal_reference === '' ? 'internal_reference' : event === '' ? 'event' : undefined;
  const money = { currency: given.currency, amount: canonicalAmount(given.amount) };
  const record = recordOf(signed, {
    account,
    content: JSON.stringify({ [STATEMENT]: given }),
    claims: { request: money, transaction: money },
    ...{ keyId: STATEMENT, refusal: null, traceparent: null, provider: null },
  });
  const finding = findingOf(given, row, lacks === undefined ? record.transitionId : undefined);
  return { given, record, lacks, finding };
}

async function find<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  entries: readonly Entry[],
  tx?: Tx,
): Promise<[Entry, Known][]> {
  const asked = entries.map(({ given, record, lacks }, place) => {
    const { referenceKey: key, transactionType, transitionId: id } = record;
    const reference = JSON.stringify(given.merchant_reference);
    const transitionId = lacks === undefined ? id : null;
    return { place, reference, referenceKey: key, transactionType, transitionId };
  });
  const rows = await statements.run('find_stated', [JSON.stringify(asked)], tx);
  const byPlace = new Map(rows.map((row) => [numberOf(row, 'place'), row]));
  const known: [Entry, Known][] = [];
  for (const [place, entry] of entries.entries()) {
    const row = byPlace.get(place) ?? { amount: null, state: null, is_archived: 0 };
    const { merchant_reference, transaction_type: type } = entry.given;
    let expectation = expectationIn(row);
    let settled = expectation?.settledBy === undefined ? undefined : signedIn(row, 'settled_signed');
    if (expectation === undefined && numberOf(row, 'is_archived') === 1) {
      const archived = await findArchived(statements, { keys: { merchant_reference }, account }, tx);
      const paid = archived.find((each) => each.expectation && each.signed.transaction_type === type);
      expectation = paid?.expectation;
      settled = paid?.signed;
    }
    const [paidBy, state] = [settled?.internal_reference, optionalText(row, 'state')];
    known.push([entry, { expectation, paidBy, state }]);
  }
  return known;
}

/** Keeps the row as the body of the transition that the callback would be. False if it is already there. */
async function apply<Tx>(
  context: OperatorContext<Tx>,
  entry: Entry,
  { by, note }: StatementOptions,
): Promise<boolean> {
  const { statements, settings } = context;
  const { storeTimeoutMs: limitMs, account, bodyContent } = settings;
  const { record } = entry;
  return statements.limited(limitMs, async (tx) => {
    // Read again, since an operator may have replaced the expectation meanwhile.
    const [[, known] = []] = await find(context, [entry], tx);
    if (known === undefined || judge(entry, known, 1)[0] !== 'paid_without_callback') return false;
    const [outcome] = await keepFirsts({ statements, limitMs }, [bodyContent.keep(record)], tx);
    if (outcome !== 'new') return false;
    const [row = {}] = await statements.run('lock_named_transition', [record.transitionId, account], tx);
    await addAction(statements, { id: numberOf(row, 'id'), action: STATEMENT, by, note }, tx);
    return true;
  });
}

/** Settlements of the period without a row. */
async function addAbsent<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { from, to, transaction_type: only }: StatementOptions,
  { staging, tally }: { readonly staging: Staging; readonly tally: Tally },
): Promise<void> {
  for (let after: readonly SqlValue[] = [from.getTime(), 0, '', '']; ; ) {
    const [at = 0] = after;
    const rows = await statements.run('list_settled', [settings.account, at, to.getTime(), ...after, PAGE]);
    for (const row of rows) {
      const transaction_type = jsonTextOf(row, 'transaction_type');
      const given = { merchant_reference: jsonTextOf(row, 'merchant_reference'), transaction_type };
      if (staging.has(given) || (only ?? transaction_type) !== transaction_type) continue;
      const base = findingOf(given, undefined, optionalText(row, 'settled_by'));
      tally.add({ ...base, verdict: 'absent_from_statement', detail: undefined });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    const names = ['merchant_reference', 'transaction_type'].map((name) => textOf(last, name));
    after = [numberOf(last, 'at'), numberOf(last, 'is_archived'), ...names];
  }
}

/** What is left for an operator is also an event. */
function reportOf(
  given: Omit<StatementReport, 'isClean' | 'counts' | 'samples'>,
  { counts, samples }: Tally,
  emit: Emit,
): StatementReport {
  const left = { ...counts, settled: 0, not_paid: 0 };
  if (!given.dryRun) left.paid_without_callback -= given.applied;
  const differing = VERDICTS.filter((verdict) => left[verdict] > 0);
  for (const verdict of differing) emit({ name: 'statement.differs', verdict, count: left[verdict] });
  return { ...given, isClean: differing.length === 0, counts, samples };
}

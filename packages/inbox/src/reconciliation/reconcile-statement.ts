import { canonicalAmount, transitionId } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
} from '@payment-service/core/internal';
import type { Emit } from '../events.ts';
import { keepFirsts } from '../intake/keep.ts';
import { recordOf } from '../intake/record.ts';
import { addAction, NOTE_RULES } from '../operator/actions.ts';
import type { OperatorContext } from '../operator/views.ts';
import { BOOLEAN, NAME } from '../option-rules.ts';
import type { StatementVerdict } from '../states.ts';
import { numberOf, optionalText } from '../store/store.ts';
import { findArchived } from '../work/verdict/archived.ts';
import { expectationIn, jsonTextOf, signedIn } from '../work/verdict/stored.ts';
import { PERIOD, plainIn } from './balances.ts';
import {
  type Entry,
  findingOf,
  groupOf,
  isPaid,
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
const VERDICTS = Object.keys(STATEMENT_VERDICTS) as StatementVerdict[];
const MAX_SAMPLES = 20;
const BATCH = 500;
/** Replaces the id of a signing key in a body that is a row of a statement, and names its action. */
const STATEMENT = 'statement';

/**
 * Compares a statement with what is known here, row by row. It applies nothing unless `dryRun` is false. Then a payment that is
 * expected here with exactly this money becomes the transition that its callback would be, and is processed under the same
 * rules (decision D60).
 */
export async function reconcileStatement<Tx>(
  context: OperatorContext<Tx>,
  rows: readonly StatementRow[] | AsyncIterable<StatementRow>,
  options: StatementOptions,
): Promise<StatementReport> {
  checkOptions('reconcileStatement()', options, RULES);
  checkArgument('reconcileStatement()', 'rows', rows, ROWS);
  const { dryRun = true } = options;
  const findings: StatementFinding[] = [];
  const entries: Entry[] = [];
  const listed = new Set<string>();
  let count = 0;
  const take = (row: StatementRow): void => {
    count += 1;
    if (typeof Object(row).merchant_reference === 'string') listed.add(groupOf(row));
    const [verdict, detail] = refusalOf(row, options) ?? [];
    if (verdict === undefined) entries.push(entryOf(row, count, context));
    else findings.push({ ...findingOf(Object(row), count), verdict, detail });
  };
  // A loop with await would wait for rows that are promises, in place of refusing them.
  if (Array.isArray(rows)) for (const row of rows) take(row);
  else for await (const row of rows) take(row);
  // A file that is misread settles nothing.
  const isRefused = findings.length > 0;
  const paid = Map.groupBy(entries.filter(isPaid), ({ given }) => groupOf(given));
  const missing: Entry[] = [];
  for (let start = 0; start < entries.length; start += BATCH) {
    for (const [entry, known] of await find(context, entries.slice(start, start + BATCH))) {
      const [verdict, detail] = judge(entry, known, paid.get(groupOf(entry.given))?.length ?? 0);
      const transitionId = known.expectation?.settledBy ?? entry.finding.transitionId;
      findings.push({ ...entry.finding, transitionId, verdict, detail });
      if (verdict === 'paid_without_callback' && entry.lacks === undefined) missing.push(entry);
    }
  }
  let applied = isRefused || !dryRun ? 0 : missing.length;
  if (!isRefused && !dryRun)
    for (const entry of missing) applied += (await apply(context, entry, options)) ? 1 : 0;
  const all = findings.concat(await absent(context, options, listed));
  return reportOf({ applied, dryRun, rows: count }, all, context.settings.emit);
}

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
    transitionId: transitionId(signed, account),
    account,
    content: JSON.stringify({ [STATEMENT]: given }),
    claims: { request: money, transaction: money },
    ...{ keyId: STATEMENT, refusal: null, traceparent: null },
  });
  const finding = findingOf(given, row, lacks === undefined ? record.transitionId : undefined);
  return { given, record, lacks, finding };
}

async function find<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  entries: readonly Entry[],
  tx?: Tx,
): Promise<[Entry, Known][]> {
  const asked = entries.map(({ record, lacks }, place) => {
    const { referenceKey: key, transactionType, transitionId: id } = record;
    return { place, referenceKey: key, transactionType, transitionId: lacks === undefined ? id : null };
  });
  const rows = await statements.run('find_stated', [JSON.stringify(asked)], tx);
  const byPlace = new Map(rows.map((row) => [numberOf(row, 'place'), row]));
  const known: [Entry, Known][] = [];
  for (const [place, entry] of entries.entries()) {
    const row = byPlace.get(place) ?? { amount: null, state: null };
    const { merchant_reference, transaction_type: type } = entry.given;
    let expectation = expectationIn(row);
    let settled = expectation?.settledBy === undefined ? undefined : signedIn(row, 'settled_signed');
    if (expectation === undefined) {
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
async function absent<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { from, to, transaction_type: only }: StatementOptions,
  listed: ReadonlySet<string>,
): Promise<StatementFinding[]> {
  const settled = await statements.run('list_settled', [settings.account, from.getTime(), to.getTime()]);
  return settled.flatMap((row) => {
    const transaction_type = jsonTextOf(row, 'transaction_type');
    const given = { merchant_reference: plainIn(row, 'merchant_reference'), transaction_type };
    if (listed.has(groupOf(given)) || (only ?? transaction_type) !== transaction_type) return [];
    const base = findingOf(given, undefined, optionalText(row, 'settled_by'));
    return { ...base, verdict: 'absent_from_statement', detail: undefined };
  });
}

function reportOf(
  given: Omit<StatementReport, 'isClean' | 'counts' | 'samples'>,
  findings: readonly StatementFinding[],
  emit: Emit,
): StatementReport {
  const byVerdict = Map.groupBy(findings, ({ verdict }) => verdict);
  const counts = Object.fromEntries(
    VERDICTS.map((verdict) => [verdict, byVerdict.get(verdict)?.length ?? 0]),
  ) as StatementReport['counts'];
  const left = { ...counts, settled: 0, not_paid: 0 };
  if (!given.dryRun) left.paid_without_callback -= given.applied;
  const differing = VERDICTS.filter((verdict) => left[verdict] > 0);
  for (const verdict of differing) emit({ name: 'statement.differs', verdict, count: left[verdict] });
  const samples = [...byVerdict.values()].flatMap((same) => same.slice(0, MAX_SAMPLES));
  return { ...given, isClean: differing.length === 0, counts, samples };
}

import { hash } from 'node:crypto';
import { ConfigurationError, canonicalAmount, transitionId } from '@payment-service/core';
import { checkOptions, type OptionRules } from '@payment-service/core/receive';
import { keepFirsts } from '../intake/keep.ts';
import { type IntakeRecord, isStorableCurrency, referenceKey, subjectKey } from '../intake/record.ts';
import { type ActionNote, NOTE_RULES } from '../operator/actions.ts';
import type { OperatorContext } from '../operator/views.ts';
import { NAME } from '../options.ts';
import { numberOf, optionalText } from '../store/store.ts';
import { findArchived } from '../work/archived.ts';
import type { KnownExpectation } from '../work/evaluate.ts';
import { expectationIn, signedIn } from '../work/stored.ts';
import { PERIOD, type Period, plainIn, typeIn } from './balances.ts';

/**
 * One row of a statement, by the names of the protocol. What a statement of the service looks like is not shown, so the
 * program that reads it says which of its columns is which.
 */
export interface StatementRow {
  readonly merchant_reference: string;
  /** Without it, a payment whose callback is missing cannot be settled: a later callback would be another transition. */
  readonly internal_reference?: string | undefined;
  readonly transaction_type: string;
  /** `COMPLETED` is paid (protocol §3). */
  readonly transaction_status: string;
  readonly currency: string;
  /** Digits with at most one point: `1999.90`. No sign, exponent or grouping: another notation is refused and not guessed. */
  readonly amount: string;
  /** @default the only event of `completedEvents` */
  readonly event?: string | undefined;
  /** The account that the statement names, for the option `account`. */
  readonly account?: string | undefined;
}

/** Options of `reconcileStatement()`. */
export interface StatementOptions extends ActionNote, Period {
  /** What `account` of every row must be, if the statement names an account. */
  readonly account?: string | undefined;
  /** The signed type that the statement lists, if it lists one only: settlements of others are not absent. @default every type */
  readonly transaction_type?: string | undefined;
  /** With `false`, a payment in the statement without a callback here is settled by its row. @default true */
  readonly dryRun?: boolean | undefined;
}

/** What became of a row; the list is closed. */
export const STATEMENT_VERDICTS = [
  /** Settled here, and paid in the statement, with the same money. */
  'settled',
  /** Neither settled here nor paid in the statement. */
  'not_paid',
  /** Paid in the statement and expected here; no callback came. */
  'paid_without_callback',
  /** Paid in the statement; its callback is here and was not applied. */
  'waiting_here',
  /** Settled here in the period, and not in the statement: money that may not exist. */
  'absent_from_statement',
  'other_amount',
  'other_currency',
  'other_status',
  /** Paid in the statement; settled here by another transaction. */
  'paid_by_another',
  /** Paid in the statement; no expectation is known here. */
  'not_expected',
  /** The statement has more than one paid row of this reference. */
  'duplicate',
  'other_account',
  /** A field is missing or has another notation. */
  'malformed',
] as const;
export type StatementVerdict = (typeof STATEMENT_VERDICTS)[number];

/** A row and its verdict. */
export interface StatementFinding {
  /** The number of the row, from 1; undefined for what is absent from the statement. */
  readonly row: number | undefined;
  readonly verdict: StatementVerdict;
  readonly merchant_reference: string;
  readonly internal_reference: string | undefined;
  /** Of the transition that settled it here, or that the row would make. */
  readonly transitionId: string | undefined;
  /** What a malformed row lacks, or why a payment cannot be settled by its row. */
  readonly detail: string | undefined;
}

/** What `reconcileStatement()` found. */
export interface StatementReport {
  readonly dryRun: boolean;
  readonly rows: number;
  /** How many payments this call has settled by their row; in a dry run, how many it would settle. */
  readonly applied: number;
  /** Nothing is left for a person: every row is `settled` or `not_paid`, or was applied. */
  readonly isClean: boolean;
  readonly counts: Readonly<Record<StatementVerdict, number>>;
  /** The first 20 of each verdict, by verdict. */
  readonly samples: readonly StatementFinding[];
}

const RULES: OptionRules<StatementOptions> = {
  ...NOTE_RULES,
  ...PERIOD,
  account: NAME,
  transaction_type: NAME,
  dryRun: [(value) => typeof value === 'boolean', 'true or false'],
};
const REQUIRED_NAME = [NAME[0], NAME[1], true] as const;
const PLAIN = /^(?=.{1,40}$)(?:0|[1-9]\d*)(?:\.\d+)?$/;
const ROW_RULES: OptionRules<StatementRow> = {
  merchant_reference: REQUIRED_NAME,
  internal_reference: NAME,
  transaction_type: REQUIRED_NAME,
  transaction_status: REQUIRED_NAME,
  currency: [isStorableCurrency, 'a currency code', true],
  amount: [
    (value) => typeof value === 'string' && PLAIN.test(value),
    'digits with at most one point, such as 1999.90',
    true,
  ],
  event: NAME,
  account: NAME,
};
const MAX_SAMPLES = 20;
const BATCH = 500;
/** Of a body that is a row of a statement, in place of the id of a signing key; and what its action is called. */
const STATEMENT = 'statement';

/** A row, and the record that its callback would have made. */
interface Entry {
  readonly finding: Omit<StatementFinding, 'verdict' | 'detail'>;
  readonly given: StatementRow;
  readonly record: IntakeRecord;
  /** Which signed string is not known. */
  readonly lacks: 'internal_reference' | 'event' | undefined;
}

/** What is known here of a row. */
interface Known {
  readonly expectation: KnownExpectation | undefined;
  /** The internal_reference that has settled it. */
  readonly paidBy: string | undefined;
  /** Where the row's own transition stands. */
  readonly state: string | undefined;
}

/**
 * Holds a statement against what is known here, row by row. It applies nothing unless `dryRun` is false; then a payment that
 * is expected here, with exactly this money, becomes the transition that its callback would be, and is worked on under the
 * same rules (decision D60).
 */
export async function reconcileStatement<Tx>(
  context: OperatorContext<Tx>,
  rows: readonly StatementRow[],
  options: StatementOptions,
): Promise<StatementReport> {
  checkOptions('reconcileStatement()', options, RULES);
  if (!Array.isArray(rows))
    throw new ConfigurationError('rows', 'reconcileStatement() takes a list of rows.');
  const { dryRun = true } = options;
  const findings: StatementFinding[] = [];
  const entries: Entry[] = [];
  for (const [index, row] of rows.entries()) {
    const refused = refusalOf(row, options);
    if (refused === undefined) entries.push(entryOf(row, index + 1, context));
    else findings.push({ ...findingOf(Object(row), index + 1), ...refused });
  }
  // A file that is not what its reader takes it for settles nothing.
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
  const all = findings.concat(await absent(context, options, rows));
  return reportOf(context, { findings: all, applied, dryRun, rows: rows.length });
}

const isPaid = ({ given }: Entry): boolean => given.transaction_status === 'COMPLETED';

function groupOf(row: Pick<StatementRow, 'merchant_reference' | 'transaction_type'>): string {
  return JSON.stringify([row?.merchant_reference, row?.transaction_type]);
}

/** What a row says by itself, before anything is looked up. */
function refusalOf(
  row: StatementRow,
  { account }: StatementOptions,
): Pick<StatementFinding, 'verdict' | 'detail'> | undefined {
  try {
    checkOptions('reconcileStatement()', row, ROW_RULES);
  } catch (error) {
    // It names the field, and not its value.
    return { verdict: 'malformed', detail: Object(error).message };
  }
  const isOther = account !== undefined && row.account !== account;
  return isOther ? { verdict: 'other_account', detail: undefined } : undefined;
}

function entryOf<Tx>(
  given: StatementRow,
  row: number,
  { settings: { account, completedEvents } }: OperatorContext<Tx>,
): Entry {
  const { merchant_reference, internal_reference = '', transaction_type, transaction_status } = given;
  // With several events, which one a callback would have is not known.
  const event = given.event ?? (completedEvents.length === 1 ? completedEvents[0] : undefined) ?? '';
  const signed = { event, merchant_reference, internal_reference, transaction_type, transaction_status };
  const lacks = internal_reference === '' ? 'internal_reference' : event === '' ? 'event' : undefined;
  const money = { currency: given.currency, amount: canonicalAmount(given.amount) };
  const content = JSON.stringify({ [STATEMENT]: given });
  const record: IntakeRecord = {
    transitionId: transitionId(signed, account),
    account,
    signed: JSON.stringify(signed),
    referenceKey: referenceKey(merchant_reference, account),
    transactionType: JSON.stringify(transaction_type),
    subjectKey: subjectKey(internal_reference, account),
    digest: hash('sha256', content),
    content,
    claims: JSON.stringify({ request: money, transaction: money }),
    keyId: STATEMENT,
    refusal: null,
  };
  const finding = findingOf(given, row, lacks === undefined ? record.transitionId : undefined);
  return { given, record, lacks, finding };
}

function findingOf(row: Partial<StatementRow>, number?: number, id?: string): Entry['finding'] {
  const { merchant_reference = '', internal_reference } = row;
  return {
    row: number,
    merchant_reference: String(merchant_reference),
    internal_reference,
    transitionId: id,
  };
}

async function find<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  entries: readonly Entry[],
  tx?: Tx,
): Promise<[Entry, Known][]> {
  const asked = entries.map(
    ({ record: { referenceKey: key, transactionType, transitionId: id }, lacks }, place) => {
      return { place, referenceKey: key, transactionType, transitionId: lacks === undefined ? id : null };
    },
  );
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
    known.push([
      entry,
      { expectation, paidBy: settled?.internal_reference, state: optionalText(row, 'state') },
    ]);
  }
  return known;
}

/** @param paid How many rows of this reference and type are paid. */
function judge(
  entry: Entry,
  { expectation, paidBy, state }: Known,
  paid: number,
): [verdict: StatementVerdict, detail?: string] {
  const { given, lacks } = entry;
  const isSettled = expectation?.settledBy !== undefined;
  const isNamed = given.internal_reference !== undefined;
  const isOther = isNamed && paidBy !== undefined && paidBy !== given.internal_reference;
  // Another attempt at the same payment may have failed.
  if (!isPaid(entry)) return [isSettled && !isOther && (isNamed || paid === 0) ? 'other_status' : 'not_paid'];
  if (expectation === undefined) return ['not_expected'];
  if (isOther) return ['paid_by_another'];
  if (paid > 1) return ['duplicate'];
  if (expectation.currency !== given.currency) return ['other_currency'];
  if (expectation.amount !== canonicalAmount(given.amount)) return ['other_amount'];
  if (isSettled) return ['settled'];
  if (state !== undefined) return ['waiting_here', state];
  if (lacks === undefined) return ['paid_without_callback'];
  return [
    'paid_without_callback',
    `the row has no ${lacks}, so its later callback would be another transition`,
  ];
}

/** Keeps the row as the body of the transition that the callback would be. False when it is there already. */
async function apply<Tx>(
  context: OperatorContext<Tx>,
  entry: Entry,
  { by, note }: StatementOptions,
): Promise<boolean> {
  const { statements, settings } = context;
  const { storeTimeoutMs, account } = settings;
  const { record } = entry;
  return statements.limited(storeTimeoutMs, async (tx) => {
    // Again, since it may have changed: a person may have replaced the expectation.
    const [[, known] = []] = await find(context, [entry], tx);
    if (known === undefined || judge(entry, known, 1)[0] !== 'paid_without_callback') return false;
    const [outcome] = await keepFirsts({ statements, limitMs: storeTimeoutMs }, [record], tx);
    if (outcome !== 'new') return false;
    const [row = {}] = await statements.run('lock_named_transition', [record.transitionId, account], tx);
    const action = [numberOf(row, 'id'), STATEMENT, by.toWellFormed(), note.toWellFormed()];
    await statements.run('add_action', action, tx);
    return true;
  });
}

/** What was settled here in the period and has no row. */
async function absent<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { from, to, transaction_type: only }: StatementOptions,
  rows: readonly StatementRow[],
): Promise<StatementFinding[]> {
  const listed = new Set(rows.map(groupOf));
  const settled = await statements.run('list_settled', [settings.account, from.getTime(), to.getTime()]);
  return settled.flatMap((row) => {
    const given = { merchant_reference: plainIn(row, 'merchant_reference'), transaction_type: typeIn(row) };
    if (listed.has(groupOf(given)) || (only ?? given.transaction_type) !== given.transaction_type) return [];
    const base = findingOf(given, undefined, optionalText(row, 'settled_by'));
    return { ...base, verdict: 'absent_from_statement', detail: undefined };
  });
}

function reportOf<Tx>(
  { settings }: OperatorContext<Tx>,
  {
    findings,
    ...rest
  }: Pick<StatementReport, 'applied' | 'dryRun' | 'rows'> & { readonly findings: StatementFinding[] },
): StatementReport {
  const byVerdict = Map.groupBy(findings, ({ verdict }) => verdict);
  const count = (verdict: StatementVerdict): number => byVerdict.get(verdict)?.length ?? 0;
  const counts = Object.fromEntries(STATEMENT_VERDICTS.map((verdict) => [verdict, count(verdict)]));
  const left = STATEMENT_VERDICTS.filter((verdict) => !['settled', 'not_paid'].includes(verdict))
    .map((verdict) => ({
      verdict,
      count: count(verdict) - (verdict === 'paid_without_callback' && !rest.dryRun ? rest.applied : 0),
    }))
    .filter((each) => each.count > 0);
  for (const each of left) settings.emit({ name: 'statement.differs', ...each });
  const samples = [...byVerdict.values()].flatMap((same) => same.slice(0, MAX_SAMPLES));
  return { ...rest, isClean: left.length === 0, counts: counts as StatementReport['counts'], samples };
}

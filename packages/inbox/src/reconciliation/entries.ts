import { canonicalAmount } from '@payment-service/core';
import { keepFirsts } from '../intake/keep-deliveries.ts';
import { recordOf } from '../intake/verified-record.ts';
import { addAction } from '../operator/acts/action-log.ts';
import type { OperatorContext } from '../operator/reports.ts';
import { numberOf, optionalText } from '../store/store.ts';
import { findArchived } from '../verdict/archived.ts';
import { expectationIn, signedIn } from '../verdict/stored-values.ts';
import { type Entry, judge, type Known } from './judge.ts';
import type { Staged } from './staging.ts';
import type { StatementOptions, StatementRow } from './statement-report.ts';

/** Replaces the id of a signing key in a body that is a line of a statement, and names its action. */
const STATEMENT = 'statement';
/** 1.23457E+15 */
const EXPONENT = /^\d(?:[.,]\d+)?E[+-]?\d+$/i;

/** Makes the entries of the lines of one statement. */
export type EntryOf = (staged: Staged) => Entry;

/** @param areIdsRounded All long ids of the file end in zeros: a spreadsheet keeps 15 digits. */
export async function entriesOf<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  areIdsRounded: boolean,
): Promise<EntryOf> {
  const { account, completedEvents } = settings;
  const rows = await statements.run('list_last_settled', [account]);
  const padded = rows.map((row) => signedIn(row).internal_reference).filter((id) => /^0\d+$/.test(id));
  const damageOf = (id: string): string | undefined => {
    if (EXPONENT.test(id)) return 'a spreadsheet wrote its internal_reference with an exponent';
    if (areIdsRounded && /^\d{15}0+$/.test(id))
      return 'a spreadsheet probably rounded its internal_reference to 15 digits';
    return /^[1-9]\d*$/.test(id) && padded.some((known) => known.length > id.length)
      ? 'a spreadsheet probably removed leading zeros from its internal_reference'
      : undefined;
  };
  return (staged) => {
    const given = staged.line.row as StatementRow;
    const { merchant_reference, internal_reference = '', transaction_type } = given;
    // With several events, it is unknown which one a callback would have.
    const event = given.event ?? (completedEvents.length === 1 ? completedEvents[0] : undefined) ?? '';
    const { transaction_status = '' } = given;
    const signed = { event, merchant_reference, internal_reference, transaction_type, transaction_status };
    const money = { currency: given.currency, amount: canonicalAmount(given.amount) };
    const { direction: _, meaning: _meaning, ...content } = given;
    const record = recordOf(signed, {
      account,
      content: JSON.stringify({ [STATEMENT]: content }),
      claims: { request: money, transaction: money },
      ...{ keyId: STATEMENT, refusal: null, traceparent: null, provider: null },
    });
    return {
      ...{ ...staged, given, record },
      lacks: internal_reference === '' ? 'internal_reference' : event === '' ? 'event' : undefined,
      damage: damageOf(internal_reference),
    };
  };
}

/** What is known here about the payments of lines. */
export async function findKnown<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  entries: readonly Entry[],
  tx?: Tx,
): Promise<[Entry, Known][]> {
  const asked = entries.map(({ given, record, lacks }, place) => {
    const { referenceKey: key, transactionType, transitionId: id, subjectKey } = record;
    const reference = JSON.stringify(given.merchant_reference);
    const isNamed = given.internal_reference !== undefined;
    return {
      ...{ place, reference, referenceKey: key, transactionType },
      transitionId: lacks === undefined ? id : null,
      subjectKey: isNamed ? subjectKey : null,
    };
  });
  const rows = await statements.run('find_stated', [JSON.stringify(asked)], tx);
  const known: [Entry, Known][] = [];
  for (const row of rows) {
    const entry = entries[numberOf(row, 'place')];
    if (entry === undefined) continue;
    const { merchant_reference, transaction_type: type } = entry.given;
    let expectation = expectationIn(row);
    let settled = expectation?.settledBy === undefined ? undefined : signedIn(row, 'settled_signed');
    if (expectation === undefined && numberOf(row, 'is_archived') === 1) {
      const archived = await findArchived(statements, { keys: { merchant_reference }, account }, tx);
      const paid = archived.find((each) => each.expectation && each.signed.transaction_type === type);
      expectation = paid?.expectation;
      settled = paid?.signed;
    }
    const isReversed = row['payment_state'] === 'reversed';
    const isShared = numberOf(row, 'is_shared') === 1;
    const [paidBy, state] = [settled?.internal_reference, optionalText(row, 'state')];
    known.push([entry, { expectation, paidBy, state, isReversed, isShared }]);
  }
  return known;
}

/** Keeps the line as the body of the transition that the callback would be. False if it is already there. */
export async function applyEntry<Tx>(
  context: OperatorContext<Tx>,
  entry: Entry,
  { by, note }: Pick<StatementOptions, 'by' | 'note'>,
): Promise<boolean> {
  const { statements, settings } = context;
  const { storeTimeoutMs: limitMs, account, bodyContent } = settings;
  const { record } = entry;
  return statements.limited(limitMs, async (tx) => {
    // Read again, since an operator may have replaced the expectation meanwhile.
    const [[, known] = []] = await findKnown(context, [entry], tx);
    if (known === undefined || judge(entry, known)[0] !== 'paid_without_callback') return false;
    const [outcome] = await keepFirsts({ statements, limitMs }, [bodyContent.keep(record)], tx);
    if (outcome !== 'new') return false;
    const [row = {}] = await statements.run('lock_named_transition', [record.transitionId, account], tx);
    await addAction(statements, { action: STATEMENT, by, note }, numberOf(row, 'id'), tx);
    return true;
  });
}

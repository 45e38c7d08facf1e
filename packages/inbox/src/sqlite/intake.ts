import type { IntakeOutcome } from '../store.ts';
import type { SqliteConnection } from './connection.ts';
import type { UnpackedRecord } from './packed-records.ts';
import { tables } from './sqlite-tables.ts';

// Texts of the whole program, and values by position: the connection finds its prepared statements by them.
const INSERT_TRANSITION = `insert into ${tables.transition} (transition_id, account, signed, reference_key, subject_key,
    completed, state, reason, bodies, next_at, first_at, changed_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) on conflict (transition_id) do nothing`;
const ID = `select id from ${tables.transition} where transition_id = ?`;
const INSERT_BODY = `insert into ${tables.body} (transition, digest, body, request_currency, request_amount,
    transaction_currency, transaction_amount, key_id, refusal, first_at, last_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const REPEAT = `update ${tables.body} set deliveries = deliveries + 1, last_at = ?
  where transition = ? and digest = ? and (refusal is null or ? is not null)`;
const VERIFY = `update ${tables.body} set refusal = null, deliveries = deliveries + 1, last_at = ?
  where transition = ? and digest = ?`;
const COUNT_BODY = `update ${tables.transition}
  set bodies = bodies + ?, revision = revision + 1, completed = max(completed, ?) where id = ?`;
const WAKE = `update ${tables.transition} set state = 'pending', reason = null, next_at = ?, changed_at = ?
  where id = ? and (
    (state = 'unhandled' and reason = 'no_expectation') or state = 'conflict' or
    (state = 'quarantined' and reason not in ('crash_loop', 'transition_not_allowed', 'empty_reference')))`;
// Apart: evidence does not keep a callback out.
const COUNT_ALIKE = `select count(*) as bodies from ${tables.body}
  where transition = ? and (refusal is null) = (? is null)`;

/** Keeps a group of deliveries in one transaction: one fsync for all of them, and no answer before it. */
export function receiveGroup(
  connection: SqliteConnection,
  account: string,
  records: readonly UnpackedRecord[],
): readonly IntakeOutcome[] {
  connection.begin();
  try {
    const outcomes = records.map((record) => receive(connection, account, record));
    connection.commit();
    return outcomes;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

function receive(connection: SqliteConnection, account: string, record: UnpackedRecord): IntakeOutcome {
  const { transitionId, digest, refusal = null, receivedAt } = record;
  const inserted = connection.change(INSERT_TRANSITION, [
    transitionId,
    account,
    record.signed,
    record.referenceKey,
    record.subjectKey,
    record.isCompleted ? 1 : 0,
    refusal === null ? 'pending' : 'quarantined',
    refusal,
    receivedAt,
    receivedAt,
    receivedAt,
  ]);
  if (inserted.changes === 1) {
    insertBody(connection, inserted.rowId, record);
    return 'new';
  }
  const id = Number(connection.query(ID, [transitionId]).rows[0]?.['id']);
  const repeated = connection.change(REPEAT, [receivedAt, id, digest, refusal]);
  return repeated.changes === 1 ? 'known' : receiveOtherBody(connection, id, record);
}

/** A body that was not kept before, or only as evidence. */
function receiveOtherBody(connection: SqliteConnection, id: number, record: UnpackedRecord): IntakeOutcome {
  const { digest, refusal, receivedAt } = record;
  const isKnown = connection.change(VERIFY, [receivedAt, id, digest]).changes === 1;
  if (!isKnown) {
    if (!hasRoom(connection, id, record)) return 'full';
    insertBody(connection, id, record);
  }
  connection.change(COUNT_BODY, [isKnown ? 0 : 1, record.isCompleted ? 1 : 0, id]);
  // What was parked for want of this body is looked at again.
  if (refusal === undefined) connection.change(WAKE, [receivedAt, receivedAt, id]);
  return 'new_body';
}

function hasRoom(connection: SqliteConnection, id: number, { refusal, maxBodies }: UnpackedRecord): boolean {
  const [alike] = connection.query(COUNT_ALIKE, [id, refusal ?? null]).rows;
  return Number(alike?.['bodies']) < maxBodies;
}

function insertBody(connection: SqliteConnection, id: number, record: UnpackedRecord): void {
  const { digest, body, request, transaction, keyId, refusal = null, receivedAt } = record;
  const { currency, amount } = request;
  connection.change(INSERT_BODY, [
    id,
    digest,
    body,
    currency,
    amount,
    transaction.currency,
    transaction.amount,
    keyId,
    refusal,
    receivedAt,
    receivedAt,
  ]);
}

import { type IntakeOutcome, MOST_BODIES } from '../store.ts';
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
const EQUALS_EXPECTATION = `select 1 as equals
  from ${tables.transition} t join ${tables.expectation} e on e.reference_key = t.reference_key
  where t.id = ? and
    (e.compare = 'transaction' or (e.currency = ? and e.amount = ?)) and
    (e.compare = 'request' or (e.currency = ? and e.amount = ?))`;
const COUNT_AS_EQUAL = `update ${tables.body} set deliveries = deliveries + 1, last_at = ?
  where transition = ? and digest = (
    select b.digest from ${tables.body} b
    join ${tables.transition} t on t.id = b.transition
    join ${tables.expectation} e on e.reference_key = t.reference_key
    where b.transition = ? and b.refusal is null and
      (e.compare = 'transaction' or (e.currency = b.request_currency and e.amount = b.request_amount)) and
      (e.compare = 'request' or (e.currency = b.transaction_currency and e.amount = b.transaction_amount))
    limit 1)`;

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
    const beyond = record.isAcknowledged ? undefined : beyondTheLimit(connection, id, record);
    if (beyond !== undefined) return beyond;
    insertBody(connection, id, record);
  }
  connection.change(COUNT_BODY, [isKnown ? 0 : 1, record.isCompleted ? 1 : 0, id]);
  // What was parked for want of this body is looked at again.
  if (refusal === undefined) connection.change(WAKE, [receivedAt, receivedAt, id]);
  return 'new_body';
}

/** What becomes of a body for which there is no room; undefined when it is kept all the same. */
function beyondTheLimit(
  connection: SqliteConnection,
  id: number,
  { request, transaction, refusal, receivedAt }: UnpackedRecord,
): 'full' | 'known' | undefined {
  const [alike] = connection.query(COUNT_ALIKE, [id, refusal ?? null]).rows;
  if (Number(alike?.['bodies']) < MOST_BODIES) return undefined;
  if (refusal !== undefined) return 'full';
  const claims = [request.currency, request.amount, transaction.currency, transaction.amount];
  if (connection.query(EQUALS_EXPECTATION, [id, ...claims]).rows.length === 0) return 'full';
  // One that equals it is enough: the next are deliveries of that one.
  return connection.change(COUNT_AS_EQUAL, [receivedAt, id, id]).changes === 1 ? 'known' : undefined;
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

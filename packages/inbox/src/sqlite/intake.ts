import type { IntakeRecord } from '../intake-record.ts';
import { type IntakeOutcome, MOST_BODIES } from '../store.ts';
import type { SqliteConnection } from './connection.ts';
import { tables } from './sqlite-tables.ts';

/** Keeps a group of deliveries in one transaction: one fsync for all of them, and no answer before it. */
export function receiveGroup(
  connection: SqliteConnection,
  account: string,
  records: readonly IntakeRecord[],
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

function receive(connection: SqliteConnection, account: string, record: IntakeRecord): IntakeOutcome {
  const { transitionId, digest, refusal = null, receivedAt } = record;
  const inserted = connection.query(
    `insert into ${tables.transition} (transition_id, account, signed, reference_key, subject_key, completed, state,
       reason, bodies, next_at, first_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9, $9) on conflict (transition_id) do nothing`,
    {
      $1: transitionId,
      $2: account,
      $3: record.signed,
      $4: record.referenceKey,
      $5: record.subjectKey,
      $6: record.isCompleted ? 1 : 0,
      $7: refusal === null ? 'pending' : 'quarantined',
      $8: refusal,
      $9: receivedAt,
    },
  );
  if (inserted.rowCount === 1) {
    insertBody(connection, record);
    return 'new';
  }
  const repeated = connection.query(
    `update ${tables.body} set deliveries = deliveries + 1, last_at = $3
     where transition_id = $1 and digest = $2 and (refusal is null or $4 is not null)`,
    { $1: transitionId, $2: digest, $3: receivedAt, $4: refusal },
  );
  if (repeated.rowCount === 1) return 'known';
  return receiveOtherBody(connection, record);
}

/** A body that was not kept before, or only as evidence. */
function receiveOtherBody(connection: SqliteConnection, record: IntakeRecord): IntakeOutcome {
  const { transitionId, digest, refusal, receivedAt } = record;
  const verifiedNow = connection.query(
    `update ${tables.body} set refusal = null, deliveries = deliveries + 1, last_at = $3
     where transition_id = $1 and digest = $2`,
    { $1: transitionId, $2: digest, $3: receivedAt },
  );
  if (verifiedNow.rowCount === 0) {
    if (!record.isAcknowledged && isFull(connection, record)) return 'full';
    insertBody(connection, record);
  }
  connection.query(
    `update ${tables.transition} set bodies = bodies + $2, revision = revision + 1, completed = max(completed, $3)
     where transition_id = $1`,
    { $1: transitionId, $2: verifiedNow.rowCount === 0 ? 1 : 0, $3: record.isCompleted ? 1 : 0 },
  );
  // What was parked for want of this body is looked at again.
  if (refusal === undefined) {
    connection.query(
      `update ${tables.transition} set state = 'pending', reason = null, next_at = $2, changed_at = $2
       where transition_id = $1 and (
         (state = 'unhandled' and reason = 'no_expectation') or state = 'conflict' or
         (state = 'quarantined' and reason not in ('crash_loop', 'transition_not_allowed', 'empty_reference')))`,
      { $1: transitionId, $2: receivedAt },
    );
  }
  return 'new_body';
}

function isFull(connection: SqliteConnection, record: IntakeRecord): boolean {
  const { rows } = connection.query(
    `select t.bodies as bodies, e.currency is not null and
       (e.compare = 'transaction' or (e.currency is $2 and e.amount is $3)) and
       (e.compare = 'request' or (e.currency is $4 and e.amount is $5)) as equals_expectation
     from ${tables.transition} t left join ${tables.expectation} e on e.reference_key = t.reference_key
     where t.transition_id = $1`,
    {
      $1: record.transitionId,
      $2: record.request.currency,
      $3: record.request.amount,
      $4: record.transaction.currency,
      $5: record.transaction.amount,
    },
  );
  return Number(rows[0]?.['bodies']) >= MOST_BODIES && rows[0]?.['equals_expectation'] !== 1;
}

function insertBody(connection: SqliteConnection, record: IntakeRecord): void {
  connection.query(
    `insert into ${tables.body} (transition_id, digest, body, request_currency, request_amount, transaction_currency,
       transaction_amount, key_id, refusal, first_at, last_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`,
    {
      $1: record.transitionId,
      $2: record.digest,
      $3: record.body,
      $4: record.request.currency,
      $5: record.request.amount,
      $6: record.transaction.currency,
      $7: record.transaction.amount,
      $8: record.keyId,
      $9: record.refusal ?? null,
      $10: record.receivedAt,
    },
  );
}

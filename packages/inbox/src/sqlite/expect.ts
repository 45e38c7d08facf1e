import type { ExpectOutcome, StoredExpectation } from '../expectation.ts';
import type { Session } from '../session.ts';
import { tables } from './sqlite-tables.ts';

/** The mirror of postgres/expect-function.ts, statement by statement, so that it can join the merchant's transaction. */
export async function keepExpectation(
  session: Session,
  expectation: StoredExpectation,
  { account, now }: { readonly account: string; readonly now: number },
): Promise<ExpectOutcome> {
  const { referenceKey: key, merchantReference, currency, amount, compare, deadlineAt } = expectation;
  const kept = await session.query(
    `insert into ${tables.expectation} as e (reference_key, account, merchant_reference, currency, amount, compare,
       deadline_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (reference_key) do update set currency = excluded.currency, amount = excluded.amount,
       compare = excluded.compare, deadline_at = excluded.deadline_at, changed_at = excluded.changed_at,
       revision = e.revision + 1
     where e.settled_by is null
     returning 1 as kept`,
    [key, account, merchantReference, currency, amount, compare, deadlineAt, now],
  );
  // On a connection of the merchant's own, rowCount is what they make of it.
  if (kept.rows.length === 0) {
    const { rows } = await session.query(
      `select 1 as same from ${tables.expectation}
       where reference_key = $1 and currency = $2 and amount = $3 and compare = $4`,
      [key, currency, amount, compare],
    );
    return rows.length === 1 ? 'settled' : 'settled_otherwise';
  }
  await session.query(
    `update ${tables.transition} set state = 'pending', reason = null, next_at = $2, changed_at = $2,
       revision = revision + 1
     where reference_key = $1 and ((state = 'unhandled' and reason = 'no_expectation') or state = 'conflict'
       or (state = 'quarantined' and reason = 'amount_mismatch'))`,
    [key, now],
  );
  return 'kept';
}

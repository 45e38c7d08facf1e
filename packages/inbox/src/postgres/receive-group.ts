import type { IntakeRecord } from '../intake-record.ts';
import { packBytes } from '../packed-bytes.ts';
import { textOf } from '../session.ts';
import { type IntakeOutcome, MOST_BODIES } from '../store.ts';
import type { PostgresClient } from './postgres-pool.ts';
import { runStatement } from './postgres-session.ts';

/** Keeps a group of deliveries; see receive-function.ts. */
export async function receiveGroup(
  client: PostgresClient,
  schema: string,
  account: string,
  records: readonly IntakeRecord[],
): Promise<readonly IntakeOutcome[]> {
  const entries = [...records.entries()].sort(([, one], [, other]) => byTransition(one, other));
  const inOrder = entries.map(([, record]) => record);
  const { bytes, offsets, lengths } = packBytes(inOrder);
  const { rows } = await runStatement(
    client,
    `select ${schema}.receive($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) as outcomes`,
    [
      account,
      bytes,
      offsets,
      lengths,
      inOrder.map(({ signed }) => signed),
      inOrder.map(({ isCompleted }) => (isCompleted ? 1 : 0)),
      inOrder.map(({ request }) => request.currency),
      inOrder.map(({ request }) => request.amount),
      inOrder.map(({ transaction }) => transaction.currency),
      inOrder.map(({ transaction }) => transaction.amount),
      inOrder.map(({ keyId }) => keyId),
      inOrder.map(({ refusal }) => refusal ?? null),
      inOrder.map(({ receivedAt }) => receivedAt),
      inOrder.map(({ isAcknowledged }) => (isAcknowledged ? 1 : 0)),
      MOST_BODIES,
    ],
  );
  const outcomes = textOf(rows[0] ?? {}, 'outcomes').split(',') as IntakeOutcome[];
  const inTurn: IntakeOutcome[] = [];
  for (const [position, [index]] of entries.entries()) inTurn[index] = outcomes[position] ?? 'busy';
  return inTurn;
}

/** Hexadecimal digits sort as the bytes do. Deliveries of one transition stay in the order in which they came. */
function byTransition(one: IntakeRecord, other: IntakeRecord): number {
  return one.transitionId < other.transitionId ? -1 : one.transitionId > other.transitionId ? 1 : 0;
}

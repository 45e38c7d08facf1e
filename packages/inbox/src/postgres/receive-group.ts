import type { IntakeRecord } from '../intake-record.ts';
import { packBytes } from '../packed-bytes.ts';
import { textOf } from '../session.ts';
import type { IntakeOutcome } from '../store.ts';
import type { PostgresClient } from './postgres-pool.ts';
import { runStatement } from './postgres-session.ts';

/** Keeps a group of deliveries; see receive-function.ts. */
export async function receiveGroup(
  client: PostgresClient,
  schema: string,
  account: string,
  records: readonly IntakeRecord[],
  lockTimeoutMs: number,
): Promise<readonly IntakeOutcome[]> {
  const entries = [...records.entries()].sort(([, one], [, other]) => byKey(one, other));
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
      inOrder.map(({ maxBodies }) => maxBodies),
      lockTimeoutMs,
    ],
  );
  const outcomes = textOf(rows[0] ?? {}, 'outcomes').split(',') as IntakeOutcome[];
  const inTurn: IntakeOutcome[] = [];
  for (const [position, [index]] of entries.entries()) inTurn[index] = outcomes[position] ?? 'busy';
  return inTurn;
}

/** In the order of their rows, so that two groups cannot wait for each other. Hexadecimal digits sort as the bytes do. */
function byKey(one: IntakeRecord, other: IntakeRecord): number {
  const [first, second] = [one.transitionId + one.digest, other.transitionId + other.digest];
  return first < second ? -1 : first > second ? 1 : 0;
}

import type { IntakeRecord } from '../intake-record.ts';
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
  const order = inLockOrder(records);
  const sorted = order.map((index) => records[index] as IntakeRecord);
  const { rows } = await runStatement(
    client,
    `select ${schema}.receive($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as outcomes`,
    [
      account,
      sorted.map(({ transitionId }) => transitionId),
      sorted.map(({ signed }) => signed),
      sorted.map(({ referenceKey }) => referenceKey),
      sorted.map(({ subjectKey }) => subjectKey),
      sorted.map(({ isCompleted }) => (isCompleted ? 1 : 0)),
      sorted.map(({ digest }) => digest),
      sorted.map(({ body }) => body),
      sorted.map(({ request }) => request.currency),
      sorted.map(({ request }) => request.amount),
      sorted.map(({ transaction }) => transaction.currency),
      sorted.map(({ transaction }) => transaction.amount),
      sorted.map(({ keyId }) => keyId),
      sorted.map(({ refusal }) => refusal ?? null),
      sorted.map(({ receivedAt }) => receivedAt),
      sorted.map(({ isAcknowledged }) => (isAcknowledged ? 1 : 0)),
      MOST_BODIES,
    ],
  );
  const outcomes = textOf(rows[0] ?? {}, 'outcomes').split(',') as IntakeOutcome[];
  const answers: IntakeOutcome[] = [];
  for (const [position, index] of order.entries()) answers[index] = outcomes[position] as IntakeOutcome;
  return answers;
}

/** Two groups with the same transitions in another order would wait for each other. */
function inLockOrder(records: readonly IntakeRecord[]): number[] {
  const idOf = (index: number): Uint8Array => records[index]?.transitionId ?? new Uint8Array();
  return records.map((_record, index) => index).sort((a, b) => Buffer.compare(idOf(a), idOf(b)));
}

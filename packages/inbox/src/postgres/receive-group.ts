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
  const { rows } = await runStatement(
    client,
    `select ${schema}.receive($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as outcomes`,
    [
      account,
      records.map(({ transitionId }) => transitionId),
      records.map(({ signed }) => signed),
      records.map(({ referenceKey }) => referenceKey),
      records.map(({ subjectKey }) => subjectKey),
      records.map(({ isCompleted }) => (isCompleted ? 1 : 0)),
      records.map(({ digest }) => digest),
      records.map(({ body }) => body),
      records.map(({ request }) => request.currency),
      records.map(({ request }) => request.amount),
      records.map(({ transaction }) => transaction.currency),
      records.map(({ transaction }) => transaction.amount),
      records.map(({ keyId }) => keyId),
      records.map(({ refusal }) => refusal ?? null),
      records.map(({ receivedAt }) => receivedAt),
      records.map(({ isAcknowledged }) => (isAcknowledged ? 1 : 0)),
      MOST_BODIES,
    ],
  );
  return textOf(rows[0] ?? {}, 'outcomes').split(',') as IntakeOutcome[];
}

import type { DeliveryAttempt, EntryRecord, TransactionRecord } from '../state/records.ts';
import type { Reader } from '../state/store.ts';

/** One thing that happened to a transaction. `at` is in milliseconds since the epoch, on the sandbox's clock. */
export type TimelineEvent = { readonly at: number } & (
  | { readonly what: 'created' }
  | { readonly what: 'decided'; readonly status: string }
  | { readonly what: 'delivery'; readonly deliveryId: number; readonly misbehaves: readonly string[] }
  | {
      readonly what: 'attempt';
      readonly deliveryId: number;
      /** 1 and up. */
      readonly number: number;
      readonly attempt: DeliveryAttempt;
    }
  | { readonly what: 'redirect'; readonly location: string; readonly status: number }
  | { readonly what: 'entry'; readonly entry: EntryRecord }
);

/** Everything that happened to a transaction, the oldest first. */
export function timelineOf(reader: Reader, transaction: TransactionRecord): TimelineEvent[] {
  const { id, createdAt, decidedAt, status, redirects } = transaction;
  const deliveries = reader.list('delivery').filter(({ transactionId }) => transactionId === id);
  const entries = reader.list('entry').filter(({ transactionId }) => transactionId === id);
  const events: TimelineEvent[] = [
    { at: createdAt, what: 'created' },
    ...(decidedAt === null ? [] : [{ at: decidedAt, what: 'decided', status } as const]),
    ...entries.map((entry) => ({ at: entry.at, what: 'entry', entry }) as const),
    ...deliveries.map(
      ({ createdAt: at, id: deliveryId, misbehaves }) =>
        ({ at, what: 'delivery', deliveryId, misbehaves }) as const,
    ),
    ...deliveries.flatMap(({ id: deliveryId, attempts }) =>
      attempts.map(
        (attempt, index) =>
          ({ at: attempt.at, what: 'attempt', deliveryId, number: index + 1, attempt }) as const,
      ),
    ),
    ...redirects.map((redirect) => ({ ...redirect, what: 'redirect' }) as const),
  ];
  // The sort is stable: what happened in the same millisecond stays in the order above.
  return events.sort((a, b) => a.at - b.at);
}

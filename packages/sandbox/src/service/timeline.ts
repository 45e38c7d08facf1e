import type { TransactionRecord } from '../state/records.ts';
import type { Reader } from '../state/store.ts';
import { type SandboxEntry, viewEntry } from './views.ts';

/** One thing that happened to a transaction. `at` is in milliseconds since the epoch, on the sandbox's clock. */
export type TimelineEvent = { readonly at: number } & (
  | { readonly what: 'created' }
  | { readonly what: 'decided'; readonly transaction_status: string }
  | { readonly what: 'entry'; readonly entry: SandboxEntry }
  | { readonly what: 'delivery'; readonly delivery_id: number; readonly misbehaves: readonly string[] }
  | {
      readonly what: 'attempt';
      readonly delivery_id: number;
      /** Its place among the attempts of the delivery: 1 and up. */
      readonly number: number;
      readonly status: number | null;
      readonly error: string | null;
    }
  | { readonly what: 'redirect'; readonly location: string; readonly status: number }
);

/** Everything that happened to a transaction, the oldest first. */
export function timelineOf(reader: Reader, transaction: TransactionRecord): TimelineEvent[] {
  const { id, createdAt, decidedAt, status, redirects } = transaction;
  const events: TimelineEvent[] = [{ at: createdAt, what: 'created' }];
  if (decidedAt !== null) events.push({ at: decidedAt, what: 'decided', transaction_status: status });
  for (const entry of reader.list('entry')) {
    if (entry.transactionId === id) events.push({ at: entry.at, what: 'entry', entry: viewEntry(entry) });
  }
  for (const { id: delivery_id, transactionId, createdAt: at, misbehaves, attempts } of reader.list(
    'delivery',
  )) {
    if (transactionId !== id) continue;
    events.push({ at, what: 'delivery', delivery_id, misbehaves });
    for (const [index, { at, status, error }] of attempts.entries()) {
      events.push({ at, what: 'attempt', delivery_id, number: index + 1, status, error });
    }
  }
  for (const redirect of redirects) events.push({ ...redirect, what: 'redirect' });
  // The sort is stable: what happened in the same millisecond stays in the order above.
  return events.sort((a, b) => a.at - b.at);
}

export const viewEvent = (event: TimelineEvent): object => ({
  ...event,
  at: new Date(event.at).toISOString(),
});

import type { DeliveryRecord } from '../../state/records.ts';
import type { Reader } from '../../state/store.ts';

/**
 * Deliveries that failed and still need a look, the newest first. Not those of a transaction whose callback came through
 * later, and not forged ones: a receiver is right to refuse them.
 */
export function troubled(store: Reader): DeliveryRecord[] {
  const settled = new Set<number>();
  const found: DeliveryRecord[] = [];
  for (const delivery of store.list('delivery').reverse()) {
    const { transactionId, state, attempts } = delivery;
    if (state === 'delivered') settled.add(transactionId);
    const isForged = delivery.signing.key === 'other';
    if (state !== 'delivered' && attempts.length > 0 && !isForged && !settled.has(transactionId))
      found.push(delivery);
  }
  return found;
}

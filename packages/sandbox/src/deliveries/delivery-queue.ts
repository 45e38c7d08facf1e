import type { DeliveryAttempt, DeliveryRecord } from '../state/records.ts';
import { backoff, namesStatus } from '../state/retries.ts';
import type { Reader, Unit } from '../state/store.ts';

/** The deliveries that are still scheduled. */
export function queuedDeliveries(reader: Reader): DeliveryRecord[] {
  return reader
    .list('queued')
    .map(({ id }) => reader.get('delivery', id))
    .filter((delivery) => delivery !== undefined);
}

/** Saves a delivery, and keeps the queue in step with its state. */
export function putDelivery(unit: Unit, delivery: DeliveryRecord): void {
  unit.put('delivery', delivery.id, delivery);
  if (delivery.state === 'scheduled') unit.put('queued', delivery.id, { id: delivery.id });
  else unit.remove('queued', delivery.id);
}

/** Writes down an attempt, and what follows from it for this delivery and for those that wait for it. */
export function recordAttempt(unit: Unit, id: number, attempt: DeliveryAttempt): void {
  const delivery = unit.get('delivery', id);
  // The sandbox was reset while the attempt was in flight.
  if (delivery === undefined) return;
  const rules = delivery.retry;
  const signature = attempt.sent?.signature ?? delivery.signature;
  const attempts = [...delivery.attempts, attempt];
  const { at, status, error } = attempt;
  const answered = error === null ? status : null;
  const delivered = answered !== null && namesStatus(rules.accepted, answered);
  const refused = answered === null ? rules.repeated.length === 0 : !namesStatus(rules.repeated, answered);
  const over = refused || attempts.length >= rules.max_attempts;
  const state = delivered ? 'delivered' : over ? 'given_up' : 'scheduled';
  const dueAt = state === 'scheduled' ? at + backoff(rules, attempts.length) : null;
  putDelivery(unit, { ...delivery, signature, attempts, state, dueAt, held: false });
  for (const other of queuedDeliveries(unit)) {
    const overtaken = other.held && other.id < id && other.transactionId !== delivery.transactionId;
    if (other.after === id || (overtaken && state !== 'scheduled')) {
      putDelivery(unit, { ...other, dueAt: at, after: null, held: false });
    }
  }
}

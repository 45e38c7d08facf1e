import type { DeliveryAttempt, DeliveryRecord } from '../state/records.ts';
import { backoff, namesStatus } from '../state/retries.ts';
import type { Reader, Unit } from '../state/store.ts';
import { exchange } from './delivery-attempt.ts';
import type { Context } from './unit-of-work.ts';

/** Sends what is scheduled when it is due. All of its state is in the store. */
export interface Deliveries {
  /** Looks for what is due now. Call it after every change of the store or the clock. */
  pump(): void;
  /** Resolves when every delivery of the transaction has been tried, or after `ms` milliseconds. */
  tried(transactionId: number, ms: number): Promise<void>;
  /** Resolves when nothing is scheduled. */
  idle(): Promise<void>;
  /** Stops all waiting, and resolves when the attempts in flight have ended and been recorded. */
  close(): Promise<void>;
}

const MAX_CONCURRENCY = 8;
const MAX_SLEEP_MS = 3_600_000;
const PAUSE_AFTER_FAILURE_MS = 1000;

export function createDeliveries(context: Context): Deliveries {
  const { store, clock, changes, onError } = context;
  const inFlight = new Map<number, Promise<void>>();
  let wake = new AbortController();
  const stopped = new AbortController();

  const pump = (): void => {
    if (stopped.signal.aborted) return;
    wake.abort();
    wake = new AbortController();
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    const waiting = queuedDeliveries(store).filter(({ id }) => !inFlight.has(id));
    for (const delivery of waiting.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.id - b.id)) {
      if (delivery.dueAt === null) continue;
      if (delivery.dueAt > now) next = Math.min(next, delivery.dueAt);
      else if (inFlight.size < MAX_CONCURRENCY) begin(delivery);
    }
    if (next < Number.POSITIVE_INFINITY) {
      const { signal } = wake;
      clock
        .sleep(Math.min(next - now, MAX_SLEEP_MS), signal)
        .then(() => signal.aborted || pump())
        .catch(onError);
    }
  };

  const begin = (delivery: DeliveryRecord): void => {
    const flight = attempt(delivery)
      .catch((error) => {
        onError(error);
        // The attempt could not be recorded, so it is still due: without a pause, it would be repeated in a tight loop.
        return clock.sleep(PAUSE_AFTER_FAILURE_MS, stopped.signal);
      })
      .then(() => {
        inFlight.delete(delivery.id);
        pump();
      })
      .catch(onError);
    inFlight.set(delivery.id, flight);
  };

  const attempt = async (delivery: DeliveryRecord): Promise<void> => {
    const { url, body, signed, signing, retry, attempts } = delivery;
    const signature =
      retry.resign && attempts.length > 0 ? context.sign(signed, clock.now(), signing) : delivery.signature;
    const own = [
      ['content-type', 'application/json'],
      ['hmac-signature', signature],
    ] as const;
    const { headers, ...outcome } = await exchange({ url, headers: own, body }, context);
    const sent = headers && { headers, signature };
    const at = clock.now();
    store.write((unit) => recordAttempt(unit, delivery.id, { at, ...outcome, sent }));
    const recorded = store.get('delivery', delivery.id);
    if (recorded !== undefined) context.onAttempt(recorded);
  };

  return {
    pump,
    tried: (transactionId, ms) => {
      const done = (): boolean =>
        !queuedDeliveries(store).some((d) => d.transactionId === transactionId && d.attempts.length === 0);
      return watch(done, ms);
    },
    idle: () => watch(() => queuedDeliveries(store).length === 0),
    close: async () => {
      stopped.abort();
      wake.abort();
      await Promise.all(inFlight.values());
    },
  };

  /** Waits until it is done, the sandbox is closed, or the time is up. */
  async function watch(isDone: () => boolean, ms?: number): Promise<void> {
    const over = new AbortController();
    const leave = changes.subscribe(() => isDone() && over.abort());
    const signal = AbortSignal.any([over.signal, changes.ended]);
    while (!isDone() && !signal.aborted) {
      await clock.sleep(ms ?? MAX_SLEEP_MS, signal);
      if (ms !== undefined) break;
    }
    leave();
  }
}

/** The deliveries that are still scheduled. */
export function queuedDeliveries(reader: Reader): DeliveryRecord[] {
  return reader
    .list('queued')
    .map(({ id }) => reader.get('delivery', id))
    .filter((delivery) => delivery !== undefined);
}

/** Saves a delivery, and updates the queue to match its state. */
export function putDelivery(unit: Unit, delivery: DeliveryRecord): void {
  unit.put('delivery', delivery.id, delivery);
  if (delivery.state === 'scheduled') unit.put('queued', delivery.id, { id: delivery.id });
  else unit.remove('queued', delivery.id);
}

/** Records an attempt, and what follows from it for this delivery and those that wait for it. */
function recordAttempt(unit: Unit, id: number, attempt: DeliveryAttempt): void {
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

import type { Misbehaviour } from '../state/misbehaviour.ts';
import type { DeliveryRecord, TransactionRecord } from '../state/records.ts';
import type { Unit } from '../state/store.ts';
import { type Content, changedContent } from './content.ts';
import { putDelivery, queuedDeliveries } from './delivery-queue.ts';
import { misbehavioursIn, type Timing, wordsOf } from './misbehaviours.ts';
import type { Signer } from './signer.ts';

/** A callback to be sent, and what it is told to do wrong. */
export interface Plan extends Pick<DeliveryRecord, 'url' | 'retry' | 'origin'> {
  readonly transaction: TransactionRecord;
  /** What is sent without changes, and what the copies of `duplicate` say. */
  readonly base: Content;
  readonly changes: Misbehaviour;
  /** What is said of every copy. */
  readonly misbehaves?: readonly string[];
  /** The number of the first copy. */
  readonly copy?: number;
}

/** How long one that is out of order waits for a later callback. */
const HOLD_MS = 60_000;

/** Schedules a callback and its copies; returns them in their order. */
export function scheduleDeliveries(unit: Unit, plan: Plan, sign: Signer, now: number): DeliveryRecord[] {
  const { transaction, base, changes, url, retry, origin, misbehaves = [], copy: start = 0 } = plan;
  const found = misbehavioursIn(changes);
  const timing = found.reduce<Timing>(
    (made, one) => one.timing?.(made, changes, transaction.redirectUrl !== null) ?? made,
    { isLost: false, wait: 0, more: 0, isHeld: false, words: [] },
  );
  if (timing.isLost) return [];
  // One that is held already is overtaken by this one: two that wait for each other would arrive in order.
  const held = timing.isHeld && !queuedDeliveries(unit).some((other) => other.held);
  const words = [
    ...wordsOf(changes, (one) => one.timing === undefined),
    ...timing.words,
    ...(held ? ['out of order'] : []),
  ];
  const changed = changedContent(transaction, base, changes, sign, now);
  const scheduled: DeliveryRecord[] = [];
  for (let copy = 0; copy <= timing.more; copy += 1) {
    const first = copy === 0;
    const delivery: DeliveryRecord = {
      ...(first ? changed : base),
      id: unit.nextId('delivery'),
      transactionId: transaction.id,
      createdAt: now,
      origin,
      url,
      retry,
      copy: start + copy,
      misbehaves: [...misbehaves, ...(first ? words : [`duplicate ${copy}`])],
      state: 'scheduled',
      dueAt: first ? now + (held ? HOLD_MS : timing.wait) : null,
      after: scheduled.at(-1)?.id ?? null,
      held: first && held,
      attempts: [],
    };
    putDelivery(unit, delivery);
    scheduled.push(delivery);
  }
  return scheduled;
}

import { HOLD_MS, type Misbehaviour, REDIRECT_LEAD_MS } from '../state/misbehaviour.ts';
import type { DeliveryRecord, TransactionRecord } from '../state/records.ts';
import type { Unit } from '../state/store.ts';
import { type Content, changedContent } from './content.ts';
import { putDelivery, queuedDeliveries } from './delivery-queue.ts';
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

/** Schedules a callback and its copies; answers them in their order. */
export function scheduleDeliveries(unit: Unit, plan: Plan, sign: Signer, now: number): DeliveryRecord[] {
  const { transaction, base, changes, url, retry, origin, misbehaves = [], copy: start = 0 } = plan;
  if (changes.lost === true) return [];
  const overtakes = queuedDeliveries(unit).some(({ held }) => held);
  // One that is held already is overtaken by this one: two that wait for each other would arrive in order.
  const held = changes.out_of_order === true && !overtakes;
  const redirectFirst = changes.redirect_first === true && transaction.redirectUrl !== null;
  const lead = redirectFirst ? (changes.redirect_lead_ms ?? REDIRECT_LEAD_MS) : 0;
  const wait = (changes.late_ms ?? 0) + lead;
  const changed = changedContent(transaction, base, changes, sign, now);
  const scheduled: DeliveryRecord[] = [];
  for (let copy = 0; copy <= (changes.duplicate ?? 0); copy += 1) {
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
      misbehaves: [
        ...misbehaves,
        ...(first ? wordsOf(changes) : [`duplicate ${copy}`]),
        ...(first && held ? ['out of order'] : []),
        ...(first && (changes.late_ms ?? 0) > 0 ? ['late'] : []),
        ...(first && redirectFirst ? ['after the redirect'] : []),
      ],
      state: 'scheduled',
      dueAt: first ? now + (held ? HOLD_MS : wait) : null,
      after: scheduled.at(-1)?.id ?? null,
      held: first && held,
      attempts: [],
    };
    putDelivery(unit, delivery);
    scheduled.push(delivery);
  }
  return scheduled;
}

/** What the changes make of the content, in words. */
export function wordsOf(changes: Misbehaviour): string[] {
  const { t_offset_seconds: offset, event, status, extra_fields, omit_fields } = changes;
  const words: [said: boolean, word: string][] = [
    [changes.forged_amount !== undefined, 'forged amount'],
    [changes.forged_currency !== undefined, 'forged currency'],
    [changes.bad_signature === true, 'bad signature'],
    [offset !== undefined, `t ${offset} seconds off`],
    [changes.t_unit !== undefined, `t in ${changes.t_unit}`],
    [event !== undefined, `event ${event}`],
    [status !== undefined, `status ${status}`],
    [extra_fields !== undefined, `with ${Object.keys(extra_fields ?? {}).join(', ')}`],
    [omit_fields !== undefined, `without ${omit_fields?.join(', ')}`],
    [changes.body !== undefined, 'edited body'],
    [changes.signature === 'keep' && Object.keys(changes).length > 1, 'signature kept'],
  ];
  return words.filter(([said]) => said).map(([, word]) => word);
}

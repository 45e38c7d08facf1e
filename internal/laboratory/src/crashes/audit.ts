import { deliveryKey } from './acknowledgement-record.ts';
import type { Effect } from './database.ts';
import { type Payment, transitionsOf } from './payment-plan.ts';

/** What is left of a run: the sender's record, and what the database holds. */
export interface Remains {
  /** How often each delivery was acknowledged. */
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly stored: ReadonlySet<string>;
  readonly effects: readonly Effect[];
}

/** The count. */
export interface Tally {
  readonly payments: number;
  readonly transitions: number;
  /** HTTP answers of 200 for callbacks. */
  readonly acknowledgements: number;
  /** Distinct bodies that were acknowledged, and that are kept. */
  readonly acknowledgedBodies: number;
  readonly storedBodies: number;
  /** Acknowledged and not kept. */
  readonly lostBodies: number;
  /** Kept, and never sent like that. */
  readonly strangeBodies: number;
  /** Planned and not acknowledged: the sender gave up, which it never does. */
  readonly unacknowledgedBodies: number;
  /** Genuine, expected payments, and how many of them are in the effects once. */
  readonly duePayments: number;
  readonly appliedOnce: number;
  readonly lostPayments: number;
  /** References with more than one completed effect, and transitions with more than one effect of any kind. */
  readonly doubledPayments: number;
  /** Effects of another amount than the expected one, or of a payment that should not have been credited. */
  readonly forgedEffects: number;
}

/** Holds what a run left against what was planned. */
export function audit(payments: Iterable<Payment>, { acknowledged, stored, effects }: Remains): Tally {
  const effectsOf = byReference(effects);
  const planned = new Set<string>();
  const seen = new Set<string>();
  const tally = {
    payments: 0,
    transitions: 0,
    duePayments: 0,
    appliedOnce: 0,
    lost: 0,
    doubled: 0,
    forged: 0,
  };
  for (const payment of payments) {
    const own = effectsOf.get(payment.reference) ?? [];
    const completed = own.filter(({ status }) => status === 'COMPLETED');
    seen.add(payment.reference);
    tally.payments += 1;
    tally.transitions += transitionsOf(payment).size;
    for (const delivery of payment.rounds.flat()) planned.add(deliveryKey(delivery));
    tally.duePayments += payment.mustApply;
    if (payment.mustApply === 1 && completed.length === 0) tally.lost += 1;
    if (payment.mustApply === 1 && completed.length === 1) tally.appliedOnce += 1;
    if (completed.length > 1 || hasRepetition(own)) tally.doubled += 1;
    tally.forged += completed.filter((effect) => !isExpected(effect, payment)).length;
  }
  // An effect of a reference that was never sent is not a payment.
  for (const [reference, own] of effectsOf) if (!seen.has(reference)) tally.forged += own.length;
  const keys = [...acknowledged.keys()];
  return {
    payments: tally.payments,
    transitions: tally.transitions,
    acknowledgements: [...acknowledged.values()].reduce((sum, count) => sum + count, 0),
    acknowledgedBodies: acknowledged.size,
    storedBodies: stored.size,
    lostBodies: keys.filter((key) => !stored.has(key)).length,
    strangeBodies: [...stored].filter((key) => !planned.has(key)).length,
    unacknowledgedBodies: [...planned].filter((key) => !acknowledged.has(key)).length,
    duePayments: tally.duePayments,
    appliedOnce: tally.appliedOnce,
    lostPayments: tally.lost,
    doubledPayments: tally.doubled,
    forgedEffects: tally.forged,
  };
}

function byReference(effects: readonly Effect[]): Map<string, Effect[]> {
  const groups = new Map<string, Effect[]>();
  for (const effect of effects) {
    const group = groups.get(effect.reference);
    if (group === undefined) groups.set(effect.reference, [effect]);
    else group.push(effect);
  }
  return groups;
}

function isExpected({ currency, amount }: Effect, { expectation, mustApply }: Payment): boolean {
  return mustApply === 1 && expectation?.currency === currency && expectation.amount === amount;
}

function hasRepetition(effects: readonly Effect[]): boolean {
  return new Set(effects.map(({ transitionId }) => transitionId)).size < effects.length;
}

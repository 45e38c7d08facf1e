import { describe, expect, test } from 'vitest';
import { deliveryKey } from '../../src/crashes/acknowledgement-record.ts';
import { audit, type Remains, type Tally } from '../../src/crashes/audit.ts';
import type { Effect } from '../../src/crashes/database.ts';
import { type Payment, paymentAt, paymentsFor, transitionsOf } from '../../src/crashes/payment-plan.ts';

const SEED = 20_261_121;
const payments = Array.from({ length: paymentsFor(SEED, 400) }, (_, index) => paymentAt(SEED, index));
const due = payments.filter(({ mustApply }) => mustApply === 1);
const [first, second] = due;
if (first === undefined || second === undefined) throw new Error('The plan has no payments.');

describe('the count notices what it is there for', () => {
  test('a run without loss and without doubles', () => {
    expect(count({})).toMatchObject({
      payments: payments.length,
      duePayments: due.length,
      appliedOnce: due.length,
      lostBodies: 0,
      strangeBodies: 0,
      unacknowledgedBodies: 0,
      lostPayments: 0,
      doubledPayments: 0,
      forgedEffects: 0,
    });
  });

  test('an acknowledged body that is not stored', () => {
    const [missing = '', ...rest] = allKeys();
    expect(count({ stored: new Set(rest) })).toMatchObject({ lostBodies: 1 });
    expect(count({ stored: new Set([...allKeys(), `${missing}0`]) })).toMatchObject({ strangeBodies: 1 });
  });

  test('a planned body that was never acknowledged', () => {
    const [, ...rest] = allKeys();
    expect(count({ acknowledged: new Map(rest.map((key) => [key, 1])) })).toMatchObject({
      unacknowledgedBodies: 1,
      lostBodies: 0,
    });
  });

  test('a payment that was not applied', () => {
    expect(count({ effects: effects().slice(1) })).toMatchObject({
      lostPayments: 1,
      appliedOnce: due.length - 1,
    });
  });

  test('a payment that was applied twice, by one transition or by two', () => {
    const again = effectOf(first);
    expect(count({ effects: [...effects(), again] })).toMatchObject({
      doubledPayments: 1,
      appliedOnce: due.length - 1,
    });
    expect(count({ effects: [...effects(), { ...again, transitionId: 'another' }] })).toMatchObject({
      doubledPayments: 1,
    });
  });

  test('another status that was applied twice', () => {
    const failed = { ...effectOf(first), transitionId: 'failed', status: 'FAILED' };
    expect(count({ effects: [...effects(), failed] })).toMatchObject({ doubledPayments: 0 });
    expect(count({ effects: [...effects(), failed, failed] })).toMatchObject({ doubledPayments: 1 });
  });

  test('a forged amount or currency, and a payment that is not expected', () => {
    for (const forged of [{ amount: '1' }, { currency: 'USD' }, { reference: 'ORD-unknown' }]) {
      const [, ...others] = effects();
      expect(count({ effects: [...others, { ...effectOf(first), ...forged }] })).toMatchObject({
        forgedEffects: 1,
      });
    }
    const unexpected = payments.find(({ kind }) => kind === 'forged_only') as Payment;
    expect(count({ effects: [...effects(), effectOf(unexpected)] })).toMatchObject({ forgedEffects: 1 });
  });
});

describe('the plan', () => {
  test('is the same for the same seed, and another one for another', () => {
    expect(paymentAt(SEED, 7).rounds.flat().map(deliveryKey)).toEqual(
      paymentAt(SEED, 7).rounds.flat().map(deliveryKey),
    );
    expect(paymentAt(SEED, 7).reference).not.toBe(paymentAt(SEED + 1, 7).reference);
  });

  test('holds every kind, and as many transitions as asked for', () => {
    expect(new Set(payments.map(({ kind }) => kind)).size).toBe(9);
    const transitions = payments.flatMap((payment) => [...transitionsOf(payment)]);
    expect(transitions.length).toBeGreaterThanOrEqual(400);
    expect(new Set(transitions).size).toBe(transitions.length);
  });

  test('a forged body shares the transition of the genuine one, and not its digest', () => {
    for (const { kind, rounds } of payments.filter((payment) => payment.kind.startsWith('forged'))) {
      const deliveries = rounds.flat();
      expect(new Set(deliveries.map(({ transitionId }) => transitionId)).size).toBe(1);
      if (kind !== 'forged_only')
        expect(new Set(deliveries.map(({ digest }) => digest)).size).toBeGreaterThan(1);
    }
  });
});

function count(remains: Partial<Remains>): Tally {
  const acknowledged = new Map(allKeys().map((key) => [key, 1]));
  return audit(payments, { acknowledged, stored: new Set(allKeys()), effects: effects(), ...remains });
}

function allKeys(): string[] {
  return [...new Set(payments.flatMap(({ rounds }) => rounds.flat().map(deliveryKey)))];
}

function effects(): Effect[] {
  return due.map(effectOf);
}

function effectOf({ reference, expectation, rounds }: Payment): Effect {
  const { currency = '', amount = '' } = expectation ?? {};
  const transitionId = rounds.flat()[0]?.transitionId ?? '';
  return { transitionId, reference, status: 'COMPLETED', currency, amount };
}

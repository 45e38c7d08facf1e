import { createHash } from 'node:crypto';
import { canonicalAmount, type SignedFields, transitionId } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { SIGNING_KEY } from '../load/callbacks.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** One HTTP request, and what it must leave behind once it was acknowledged. */
export interface Delivery {
  readonly body: string;
  readonly signature: string;
  /** Of its transition, 64 hex digits. */
  readonly transitionId: string;
  /** The SHA-256 of the body, hex. */
  readonly digest: string;
}

/** Everything that is sent about one merchant_reference, and what must come of it. */
export interface Payment {
  readonly reference: string;
  readonly kind: PaymentKind;
  /** What the merchant expects, and whether it says so before or after the callbacks. */
  readonly expectation:
    | { readonly currency: string; readonly amount: string; readonly isLate: boolean }
    | undefined;
  /** One round after the other; within a round, all together. */
  readonly rounds: readonly (readonly Delivery[])[];
  /** How many completed transitions must be applied for this reference: each exactly once. */
  readonly mustApply: 0 | 1;
}

const KINDS = {
  /** One genuine callback. */
  plain: 50,
  /** The genuine callback several times, immediately and again later. */
  duplicates: 10,
  /** Forged amounts under the genuine signature, and then the genuine callback. */
  forged_first: 14,
  /** Forged and genuine at the same moment. */
  forged_race: 5,
  /** Several statuses of one transaction: pending, completed, and a late failure that undoes nothing. */
  steps: 8,
  /** Two completed transactions for one reference: one of them is for a person to look at. */
  rivals: 5,
  /** The merchant tells what it expects only after the callback came. */
  late_expectation: 3,
  /** Not expected: never applied. */
  unexpected: 2,
  /** The genuine callback never comes: never applied. */
  forged_only: 3,
} as const;
export type PaymentKind = keyof typeof KINDS;
const TOTAL = Object.values(KINDS).reduce((sum, weight) => sum + weight, 0);

/** The payment with this number: the same one for the same seed, in whichever process it is asked for. */
export function paymentAt(seed: number, index: number): Payment {
  const random = seededRandom(seed, index);
  const kind = kindFor(random.next() * TOTAL);
  const reference = `ORD-${seed}-${index}`;
  const currency = random.pick(['UGX', 'KES', 'TZS']);
  const amount = random.between(200, 5_000_000) / random.pick([1, 1, 2, 4]);
  const make = (overrides: Record<string, unknown>): Delivery =>
    delivery({ merchant_reference: reference, id: index, ...money(currency, amount), ...overrides });
  const genuine = { internal_reference: `INT-${index}`, transaction_status: 'COMPLETED' };
  return {
    reference,
    kind,
    expectation:
      kind === 'unexpected'
        ? undefined
        : { currency, amount: canonicalAmount(amount), isLate: kind === 'late_expectation' },
    rounds: ROUNDS[kind]({
      random,
      make,
      genuine,
      forge: () => make({ ...genuine, ...forged(currency, amount, random) }),
    }),
    mustApply: kind === 'unexpected' || kind === 'forged_only' ? 0 : 1,
  };
}

/** How many payments have at least so many transitions among them. */
export function paymentsFor(seed: number, transitions: number): number {
  let count = 0;
  for (let index = 0; ; index++) {
    if (count >= transitions) return index;
    count += transitionsOf(paymentAt(seed, index)).size;
  }
}

export function transitionsOf({ rounds }: Payment): ReadonlySet<string> {
  return new Set(rounds.flat().map((one) => one.transitionId));
}

interface Making {
  readonly random: SeededRandom;
  readonly make: (overrides: Record<string, unknown>) => Delivery;
  readonly genuine: { readonly internal_reference: string; readonly transaction_status: string };
  readonly forge: () => Delivery;
}

const ROUNDS: Record<PaymentKind, (making: Making) => (readonly Delivery[])[]> = {
  plain: ({ make, genuine }) => [[make(genuine)]],
  late_expectation: ({ make, genuine }) => [[make(genuine)]],
  unexpected: ({ make, genuine }) => [[make(genuine)]],
  duplicates: ({ random, make, genuine }) => {
    const one = make(genuine);
    return [Array.from({ length: random.between(2, 4) }, () => one), [one]];
  },
  forged_first: ({ random, make, genuine, forge }) => [
    Array.from({ length: random.between(1, 3) }, forge),
    [make(genuine)],
  ],
  forged_race: ({ make, genuine, forge }) => [[forge(), make(genuine), forge()]],
  forged_only: ({ random, forge }) => [Array.from({ length: random.between(1, 3) }, forge)],
  steps: ({ make, genuine }) => [
    [make({ ...genuine, transaction_status: 'PENDING' })],
    [make(genuine)],
    [make({ ...genuine, transaction_status: 'FAILED' }), make(genuine)],
  ],
  rivals: ({ make, genuine }) => [
    [make(genuine), make({ ...genuine, internal_reference: `${genuine.internal_reference}-B` })],
  ],
};

function kindFor(point: number): PaymentKind {
  let rest = point;
  for (const [kind, weight] of Object.entries(KINDS) as [PaymentKind, number][]) {
    rest -= weight;
    if (rest < 0) return kind;
  }
  return 'plain';
}

/** Another amount, another currency, or only one of the two amounts changed: none of them is signed. */
function forged(currency: string, amount: number, random: SeededRandom): Record<string, unknown> {
  const much = amount * 1000 + random.between(1, 1_000_000);
  switch (random.between(0, 2)) {
    case 0:
      return money(currency, much);
    case 1:
      return money('USD', amount + random.between(1, 1_000_000));
    default:
      return { ...money(currency, amount), transaction_amount: much };
  }
}

function money(currency: string, amount: number): Record<string, unknown> {
  return {
    request_currency: currency,
    request_amount: amount,
    transaction_currency: currency,
    transaction_amount: amount,
    transaction_charge: 0,
    total_credit: amount,
  };
}

function delivery(payload: Record<string, unknown>): Delivery {
  const event = `transaction.${String(payload['transaction_status']).toLowerCase()}`;
  const data = sampleCallback({ event, payload });
  const body = JSON.stringify(data);
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = data.payload;
  const signed: SignedFields = {
    event,
    merchant_reference,
    internal_reference,
    transaction_type,
    transaction_status,
  };
  return {
    body,
    signature: signCallback({ signingKey: SIGNING_KEY, data }),
    transitionId: transitionId(signed, ''),
    digest: createHash('sha256').update(body).digest('hex'),
  };
}

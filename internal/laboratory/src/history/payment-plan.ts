import { createHash } from 'node:crypto';
import { canonicalAmount, type SignedFields, transitionId } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { SIGNING_KEY } from '../load/callbacks.ts';
import type { Request } from './judge-history.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** One callback. */
export interface Delivery {
  readonly body: string;
  readonly signature: string;
  /** What the record says of it; the body is its transition and its SHA-256, both in hex. */
  readonly facts: Required<Pick<Request, 'payment' | 'money' | 'subject' | 'transition' | 'status' | 'body'>>;
}

/** Everything that is sent about one merchant_reference. */
export interface Payment {
  readonly reference: string;
  readonly kind: PaymentKind;
  /** What the merchant expects, and whether it says so before or after the callbacks. */
  readonly expectation:
    | { readonly currency: string; readonly amount: string; readonly isLate: boolean }
    | undefined;
  /** One round after the other; within a round, all together. */
  readonly rounds: readonly (readonly Delivery[])[];
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
  /** Signed with another key: refused, whenever it comes. */
  refused: 2,
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
  return new Set(rounds.flat().map(({ facts }) => facts.transition));
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
  refused: ({ make, genuine }) => [[{ ...make(genuine), signature: '0'.repeat(128) }]],
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

/** What a body claims; no expectation equals two amounts that differ. */
function moneyIn(payload: ReturnType<typeof sampleCallback>['payload']): string {
  const { request_currency, request_amount, transaction_currency, transaction_amount } = payload;
  const request = `${request_currency} ${canonicalAmount(Number(request_amount))}`;
  const transaction = `${transaction_currency} ${canonicalAmount(Number(transaction_amount))}`;
  return request === transaction ? request : `${request} or ${transaction}`;
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
  const transition = transitionId(signed, '');
  const digest = createHash('sha256').update(body).digest('hex');
  return {
    body,
    signature: signCallback({ signingKey: SIGNING_KEY, data }),
    facts: {
      payment: merchant_reference,
      money: moneyIn(data.payload),
      subject: internal_reference,
      transition,
      status: transaction_status,
      body: `${transition}:${digest}`,
    },
  };
}

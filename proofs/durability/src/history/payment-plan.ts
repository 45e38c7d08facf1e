import { createHash } from 'node:crypto';
import { canonicalAmount, transitionId } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { SIGNING_KEY } from '../load/callbacks.ts';
import type { Request } from './judge-history.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** One callback. */
export interface Delivery {
  readonly body: string;
  readonly signature: string;
  /** Its facts in the record; `body` is its transition and its SHA-256, both in hex. */
  readonly facts: Required<Pick<Request, 'payment' | 'money' | 'subject' | 'transition' | 'status' | 'body'>>;
}

/** Everything that is sent about one merchant_reference. */
export interface Payment {
  readonly reference: string;
  /** Its name in the table below. */
  readonly kind: string;
  /** What the merchant expects, and whether it is announced before or after the callbacks. */
  readonly expectation:
    | { readonly currency: string; readonly amount: string; readonly isLate: boolean }
    | undefined;
  /** Rounds run one after another; the deliveries of a round, concurrently. */
  readonly rounds: readonly (readonly Delivery[])[];
}

interface Making {
  readonly index: number;
  readonly random: SeededRandom;
  /** The genuine callback, with changes. */
  readonly make: (changes?: Record<string, unknown>) => Delivery;
  readonly forge: () => Delivery;
}
type Rounds = Payment['rounds'];
type Kind = readonly [weight: number, rounds: (making: Making) => Rounds];

const several = (count: number, make: () => Delivery): Delivery[] => Array.from({ length: count }, make);
const once = ({ make }: Making): Rounds => [[make()]];

/** About how many of a hundred payments are of each kind, and what is sent for one. */
const KINDS: Readonly<Record<string, Kind>> = {
  /** One genuine callback. */
  plain: [50, once],
  /** The genuine callback several times: immediately and again later. */
  duplicates: [10, ({ random, make }) => [several(random.between(2, 4), make), [make()]]],
  /** Forged amounts with the genuine signature, and then the genuine callback. */
  forged_first: [14, ({ random, make, forge }) => [several(random.between(1, 3), forge), [make()]]],
  /** Forged and genuine at the same moment. */
  forged_race: [5, ({ make, forge }) => [[forge(), make(), forge()]]],
  /** Several statuses of one transaction: pending, completed, and a late failure that undoes nothing. */
  steps: [
    8,
    ({ make }) => [
      [make({ transaction_status: 'PENDING' })],
      [make()],
      [make({ transaction_status: 'FAILED' }), make()],
    ],
  ],
  /** Two completed transactions for one reference: one of them is for manual review. */
  rivals: [5, ({ index, make }) => [[make(), make({ internal_reference: `INT-${index}-B` })]]],
  /** The merchant announces what it expects only after the callback has arrived. */
  late_expectation: [3, once],
  /** Not expected: never applied. */
  unexpected: [2, once],
  /** The genuine callback never arrives: never applied. */
  forged_only: [3, ({ random, forge }) => [several(random.between(1, 3), forge)]],
  /** Signed with another key: refused, whenever it arrives. */
  refused: [2, ({ make }) => [[{ ...make(), signature: '0'.repeat(128) }]]],
};
/** Each as often as its weight. */
const BAG = Object.entries(KINDS).flatMap(([kind, [weight, rounds]]) =>
  Array.from({ length: weight }, () => ({ kind, rounds })),
);

/** The payment with this number: the same one for the same seed, in every process. */
export function paymentAt(seed: number, index: number): Payment {
  const random = seededRandom(seed, index);
  const { kind, rounds } = random.pick(BAG);
  const reference = `ORD-${seed}-${index}`;
  const currency = random.pick(['UGX', 'KES', 'TZS']);
  const amount = random.between(200, 5_000_000) / random.pick([1, 1, 2, 4]);
  const genuine = {
    merchant_reference: reference,
    id: index,
    ...money(currency, amount),
    internal_reference: `INT-${index}`,
    transaction_status: 'COMPLETED',
  };
  const make: Making['make'] = (changes) => delivery({ ...genuine, ...changes });
  const forge = (): Delivery => make(forged(currency, amount, random));
  const expected = { currency, amount: canonicalAmount(amount), isLate: kind === 'late_expectation' };
  return {
    reference,
    kind,
    expectation: kind === 'unexpected' ? undefined : expected,
    rounds: rounds({ index, random, make, forge }),
  };
}

/** Another amount, another currency, or only one of the two amounts changed: none of these is signed. */
function forged(currency: string, amount: number, random: SeededRandom): Record<string, unknown> {
  const much = amount * 1000 + random.between(1, 1_000_000);
  return random.pick([
    money(currency, much),
    money('USD', much),
    { ...money(currency, amount), transaction_amount: much },
  ]);
}

function money(currency: string, amount: number): Record<string, unknown> {
  return {
    request_currency: currency,
    request_amount: amount,
    transaction_currency: currency,
    transaction_amount: amount,
  };
}

/** What a body claims; two amounts that differ match no expectation. */
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
  const inPayload = { merchant_reference, internal_reference, transaction_type, transaction_status };
  const transition = transitionId({ event, ...inPayload }, '');
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

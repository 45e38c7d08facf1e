import type { AuthenticRefusal, VerifiedCallback } from '@payment-service/core';
import type { PaymentKey } from '../../src/verdict/restate.ts';
import { callback, evidence } from '../support/callbacks.ts';
import { seeded } from '../support/seeded.ts';
import { DAY_MS, MINUTE_MS } from '../support/shop.ts';

/** One step of a history. */
export type Step =
  | { readonly kind: 'expect'; readonly key: PaymentKey; readonly amount: number; readonly minutes?: number }
  | { readonly kind: 'replace'; readonly key: PaymentKey; readonly amount: number }
  | { readonly kind: 'receive'; readonly callback: VerifiedCallback }
  | { readonly kind: 'refuse'; readonly refusal: AuthenticRefusal }
  /** An operator performs one of the acts that the payment offers then; `choice` from 0 to 1 says which. */
  | { readonly kind: 'act'; readonly key: PaymentKey; readonly choice: number; readonly amount: number }
  | { readonly kind: 'work' }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'prune'; readonly isArchiving: boolean }
  /** At the same time, as far as the store has more than one writer. */
  | { readonly kind: 'together'; readonly steps: readonly Step[] };

/** What happens to the payments of one account, from a seed. */
export interface History {
  readonly seed: number;
  readonly account: string;
  readonly steps: readonly Step[];
  /** Every payment that is expected or reported. */
  readonly keys: readonly PaymentKey[];
  /** The handlers beside that of `paid`. */
  readonly handled: readonly ('failed' | 'reversed' | 'status')[];
  /** How often a handler throws, after its effect. */
  readonly failing: number;
  /** After so many attempts, a person must look at it. */
  readonly attempts: number;
  /** All payments are attempts of one order with this total. */
  readonly total: number | undefined;
}

const AMOUNTS = [500, 500, 500, 700] as const;
const STATUSES = ['COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED', 'PENDING', 'REVERSED', 'ODD'] as const;
const HANDLED = ['failed', 'reversed', 'status'] as const;
const TYPES = ['COLLECTION', 'COLLECTION', 'COLLECTION', 'DISBURSEMENT'] as const;

type Random = () => number;
const chooser =
  (random: Random) =>
  <T>(all: readonly [T, ...T[]]): T =>
    all[Math.floor(random() * all.length)] ?? all[0];

/** Up to three payments, each with up to three transactions and everything that can happen to them. */
export function historyOf(seed: number): History {
  const random = seeded(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const one = chooser(random);
  const account = `seed-${seed}`;
  // Half of the histories have one amount and one transaction, so that many payments are paid, failed or reversed.
  const isPlain = random() < 0.5;
  const amounts = isPlain ? ([500] as const) : AMOUNTS;
  const keys = Array.from(
    { length: 1 + upTo(2) },
    (_, place): PaymentKey => ({
      merchant_reference: random() < 0.03 ? '' : `ORD-${place}`,
      transaction_type: one(TYPES),
    }),
  );
  const receive = (key: PaymentKey): Step => {
    const transaction_status = one(STATUSES);
    const internal_reference = `INT-${key.merchant_reference}-${upTo(isPlain ? 0 : 2)}`;
    const amount = one(amounts);
    const same = { request_amount: amount, transaction_amount: amount };
    const other = { request_amount: amount, transaction_amount: 900 };
    const text = { request_amount: String(amount), transaction_amount: String(amount) };
    const claims = isPlain ? same : one([same, same, other, text]);
    const payload = { ...key, internal_reference, transaction_status, ...claims, id: upTo(1) };
    if (!isPlain && random() < 0.06)
      return { kind: 'refuse', refusal: refusalOf(payload, account, random()) };
    const event = `transaction.${transaction_status === 'ODD' && random() < 0.5 ? 'completed' : transaction_status.toLowerCase()}`;
    return { kind: 'receive', callback: callback(payload, { event, account }) };
  };
  const expect = (key: PaymentKey): Step => {
    const amount = one(amounts);
    if (random() < 0.3) return { kind: 'replace', key, amount };
    return { kind: 'expect', key, amount, ...(random() < 0.5 && { minutes: upTo(3) }) };
  };
  const step = (isAlone: boolean): Step => {
    const key = one(keys as [PaymentKey, ...PaymentKey[]]);
    const kind = random();
    if (kind < 0.17) return key.merchant_reference === '' ? receive(key) : expect(key);
    if (kind < 0.52) return receive(key);
    if (kind < 0.66) return { kind: 'act', key, choice: random(), amount: one(AMOUNTS) };
    if (kind < 0.8) return { kind: 'work' };
    if (!isAlone) return { kind: 'work' };
    if (kind < 0.86) return { kind: 'advance', ms: one([MINUTE_MS, MINUTE_MS, 2 * DAY_MS]) };
    if (kind < 0.92) return { kind: 'prune', isArchiving: random() < 0.7 };
    return { kind: 'together', steps: Array.from({ length: 2 + upTo(2) }, () => step(false)) };
  };
  return {
    ...{ seed, account, keys },
    steps: Array.from({ length: 6 + upTo(16) }, () => step(true)),
    handled: HANDLED.filter(() => random() < 0.7),
    failing: random() < 0.5 ? 0.6 : 0,
    attempts: 1 + upTo(1),
    total: random() < 0.3 ? one([700, 1000]) : undefined,
  };
}

function refusalOf(payload: object, account: string, choice: number): AuthenticRefusal {
  return choice < 0.7
    ? evidence('timestamp_out_of_tolerance', { ...payload }, account)
    : evidence('ambiguous', { ...payload, merchant_reference: 'ORD:0' }, account);
}

/** What a person reads of a step that has failed. */
export function told(step: Step): string {
  if (step.kind === 'together') return `together (${step.steps.map(told).join('; ')})`;
  if (step.kind === 'receive') {
    const { signed, unsigned } = step.callback;
    const { merchant_reference, internal_reference, transaction_status, transaction_type } = signed;
    return `receive ${[merchant_reference, transaction_type, internal_reference, transaction_status]} ${unsigned.request_amount} ${unsigned.transaction_amount}`;
  }
  if (step.kind === 'refuse') return `refuse ${step.refusal.code}`;
  return JSON.stringify(step);
}

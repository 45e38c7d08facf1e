import type { SignedFields, VerifiedCallback } from '@payment-service/core';
import { callback } from '../support/callbacks.ts';

/** One thing that happens to a payment. */
export type Step =
  | { readonly kind: 'expect'; readonly amount: number }
  | { readonly kind: 'receive'; readonly callback: VerifiedCallback }
  | { readonly kind: 'work' }
  /** A worker ends its process after it has started an attempt. */
  | { readonly kind: 'crash' };

/** What must be true in the end, in whatever order the steps came. */
export interface Outcome {
  readonly credits: 0 | 1;
  /** For each transition, by its name: the states in which it may end. */
  readonly states: ReadonlyMap<string, readonly string[]>;
}

/** One interleaving of one payment, made from its seed and nothing else. */
export interface Scenario {
  readonly seed: number;
  readonly reference: string;
  /** An account of its own, so that its work steps work on it and on nothing else. */
  readonly account: string;
  readonly steps: readonly Step[];
  readonly outcome: Outcome;
  /** The attempts of the handler that fail, after its effect. */
  readonly failures: number;
}

/** What a scenario sends, by the names of the transitions: all bodies, and which transitions have a genuine one. */
interface Received {
  readonly bodies: Map<string, Set<string>>;
  readonly genuine: Set<string>;
  readonly others: Set<string>;
}

const EXPECTED = 500;

/** Names a transition among those of its scenario. */
export function transitionName({ internal_reference, transaction_status }: SignedFields): string {
  return `${internal_reference} ${transaction_status}`;
}

/** A small generator of numbers from 0 to 1, the same on every machine (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Of a payment of 500: an expectation (perhaps a wrong one first, perhaps none), genuine and forged bodies of one or two
 * transactions, a late FAILED, duplicates of them all, workers that end, and work between any two of these. On PostgreSQL
 * the next step happens while a handler runs.
 */
export function scenarioOf(seed: number): Scenario {
  const random = seeded(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const [reference, account] = [`ORD-${seed}`, `seed-${seed}`];
  const isExpected = random() < 0.85;
  const received: Received = { bodies: new Map(), genuine: new Set(), others: new Set() };
  const { bodies, genuine, others } = received;
  const steps: Step[] = [];
  const receive = (transaction: number, claims: Readonly<Record<string, unknown>>): void => {
    const internal_reference = `INT-${seed}-${transaction}`;
    const own = callback({ merchant_reference: reference, internal_reference, ...claims }, { account });
    for (let copies = random() < 0.3 ? 2 : 1; copies > 0; copies -= 1)
      steps.push({ kind: 'receive', callback: own });
    const id = transitionName(own.signed);
    if (own.signed.transaction_status !== 'COMPLETED') return void others.add(id);
    bodies.set(id, (bodies.get(id) ?? new Set()).add(JSON.stringify(own.raw)));
    if (claims['request_amount'] === EXPECTED && claims['transaction_amount'] === EXPECTED) genuine.add(id);
  };
  for (let transaction = 1; transaction <= 1 + upTo(1); transaction += 1) {
    for (let copy = upTo(2); copy > 0; copy -= 1) {
      receive(transaction, { request_amount: EXPECTED, transaction_amount: EXPECTED, id: copy });
    }
    for (let copy = upTo(3); copy > 0; copy -= 1) receive(transaction, forgery(random));
  }
  if (random() < 0.3) receive(1, { transaction_status: 'FAILED' });
  for (let work = 1 + upTo(5); work > 0; work -= 1) steps.push({ kind: 'work' });
  for (let crash = upTo(2); crash > 0; crash -= 1) steps.push({ kind: 'crash' });
  const places = new Map(steps.map((step) => [step, random()]));
  steps.sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  if (isExpected) insertExpectations(steps, random);
  return {
    seed,
    reference,
    account,
    steps,
    failures: random() < 0.2 ? 1 + upTo(1) : 0,
    outcome: outcomeOf(isExpected, received),
  };
}

function forgery(random: () => number): Readonly<Record<string, unknown>> {
  const amount = EXPECTED + 100 + Math.floor(random() * 1_000_000);
  const kinds = [
    { request_amount: amount, transaction_amount: amount },
    { request_amount: EXPECTED, transaction_amount: amount },
    { request_amount: amount, transaction_amount: EXPECTED },
    { request_amount: EXPECTED, transaction_amount: EXPECTED + 0.000001 },
    { request_amount: String(EXPECTED), transaction_amount: EXPECTED },
  ];
  return kinds[Math.floor(random() * kinds.length)] ?? {};
}

/** The right one last: until it is settled an expectation may be replaced. No body equals the wrong one. */
function insertExpectations(steps: Step[], random: () => number): void {
  const amounts =
    random() < 0.2 ? [EXPECTED + 77, EXPECTED] : random() < 0.2 ? [EXPECTED, EXPECTED] : [EXPECTED];
  const places = amounts.map(() => Math.floor(random() * (steps.length + 1))).sort((a, b) => a - b);
  for (const [index, amount] of amounts.entries()) {
    steps.splice((places[index] ?? 0) + index, 0, { kind: 'expect', amount });
  }
}

function outcomeOf(isExpected: boolean, { bodies, genuine, others }: Received): Outcome {
  const states = new Map<string, readonly string[]>();
  for (const id of others) states.set(id, ['unhandled']);
  for (const [id, { size }] of bodies) {
    if (!isExpected) states.set(id, [size > 1 ? 'conflict' : 'unhandled']);
    else if (genuine.has(id)) states.set(id, genuine.size > 1 ? ['settled', 'conflict'] : ['settled']);
    else states.set(id, genuine.size > 0 ? ['quarantined', 'conflict'] : ['quarantined']);
  }
  return { credits: isExpected && genuine.size > 0 ? 1 : 0, states };
}

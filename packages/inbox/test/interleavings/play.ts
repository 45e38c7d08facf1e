import type { SignedFields, VerifiedCallback } from '@payment-service/core';
import type { Handled } from '../../src/index.ts';
import { keepFirsts, keepOthers } from '../../src/intake/keep-deliveries.ts';
import { callbackRecord } from '../../src/intake/verified-record.ts';
import { settingsOf } from '../../src/options.ts';
import { Statements } from '../../src/store/statements.ts';
import { checkExpectation, keepExpectation } from '../../src/verdict/expectation.ts';
import { attempt } from '../../src/work/attempt/attempt.ts';
import { type Due, dueIn, type WorkContext } from '../../src/work/attempt/attempt-stages.ts';
import { addHandler, type Handlers } from '../../src/work/attempt/handlers.ts';
import { callback } from '../support/callbacks.ts';
import type { AnyTransaction, Merchant } from '../support/merchant.ts';
import { seeded } from '../support/seeded.ts';
import { money } from '../support/shop.ts';

/** Plays the scenarios of the seeds on a real store, several at a time; returns those that did not end as expected. */
export async function play(merchant: Merchant, seeds: readonly number[], lanes: number): Promise<string[]> {
  const store = merchant.newStore();
  await merchant.open({ store }).ready();
  const scenarios = seeds.map(scenarioOf);
  const left = scenarios.values();
  const playSome = async () => {
    for (const scenario of left) await playScenario(merchant, store, scenario);
  };
  await Promise.all(Array.from({ length: lanes }, playSome));
  return check(merchant, scenarios);
}

async function playScenario(
  merchant: Merchant,
  store: ReturnType<Merchant['newStore']>,
  { account, reference, ...scenario }: Scenario,
): Promise<void> {
  const statements = new Statements(store);
  const steps = [...scenario.steps];
  let { failures } = scenario;
  let isHandling = false;
  const handlers: Handlers<AnyTransaction> = new Map();
  addHandler(handlers, 'paid', async ({ tx, signed, payment: { settled } }: Handled<AnyTransaction>) => {
    await merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
    await playMeanwhile();
    failSometimes();
  });
  if (scenario.isFailedHandled) {
    // Trusts the status, and reverses the payment: it may run before the payment, but not after it (threat A53).
    const unpay = async ({ tx, signed }: Handled<AnyTransaction>): Promise<void> => {
      // The payment may be settled meanwhile.
      for (let step = 0; step < 3; step += 1) await playMeanwhile();
      await merchant.uncredit(tx, signed.merchant_reference);
      failSometimes();
    };
    addHandler(handlers, 'failed', unpay);
  }
  const context: WorkContext<AnyTransaction> = {
    ...{ store, statements, handlers, signal: new AbortController().signal },
    settings: settingsOf({
      store,
      account,
      random: () => 1,
      statuses: { FAILED: 'failed' },
      handlerLockTimeoutMs: 30_000,
      onError: () => undefined,
    }),
  };

  function failSometimes(): void {
    failures -= 1;
    if (failures >= 0) throw new Error('this attempt fails, after its effect');
  }

  /** The next step happens while a handler runs. Not on SQLite, which has one writer. */
  async function playMeanwhile(): Promise<void> {
    if (store.dialect !== 'postgres' || isHandling) return;
    isHandling = true;
    await playStep(steps.shift());
    isHandling = false;
  }

  /**
   * Works on the first due transition, or on the newest as in a backlog, and on the one that is started with its settlement. A crash comes after a committed
   * start: the first one or, with `isLate`, the one committed with the settlement.
   *
   * @returns whether anything was due.
   */
  async function work({ isCrash = false, isLate = false, isNewest = false } = {}): Promise<boolean> {
    const rows = isNewest
      ? statements.run('find_newest', [account, Number.MAX_SAFE_INTEGER])
      : statements.run('find_due', [account, -1, 0]);
    const [due, ...others] = (await rows).map(dueIn);
    if (due === undefined) return false;
    const next = others.find((other) => other.subjectKey !== due.subjectKey && other.unfinished === 0);
    if (isCrash && !(isLate && next !== undefined)) {
      const start = [due.id, due.nextAt, 1000, 'a crash', due.subjectKey, due.attempts];
      await statements.run('start_attempt of synced', start);
      return true;
    }
    let taken: Due | undefined;
    const takeNext = () => {
      taken = next;
      return next;
    };
    const { begun } = await attempt(due, context, { takeNext });
    if (taken !== undefined && begun !== undefined && !isCrash)
      await attempt(taken, context, { start: begun });
    return true;
  }

  async function playStep(step: Step | undefined): Promise<void> {
    if (step === undefined) return;
    if (step.kind === 'work' || step.kind === 'crash') {
      const { isNewest } = step;
      await work({ isNewest, isCrash: step.kind === 'crash', isLate: step.kind === 'crash' && step.isLate });
    } else if (step.kind === 'receive') {
      const record = callbackRecord(step.callback, account);
      const [first] = await keepFirsts({ statements, limitMs: 3000 }, [record]);
      if (first === undefined) await store.transaction((tx) => keepOthers(statements, [record], tx));
    } else {
      const expectation = checkExpectation(money(reference, step.amount), { account, colonIn: undefined });
      await store.transaction((tx) => keepExpectation(statements, { expectation, replace: WHO }, tx));
    }
  }

  while (steps.length > 0) await playStep(steps.shift());
  // In the end every worker runs, and every retry is due.
  const makeDue = `update ${merchant.table('transition')} set next_at = next_at - 3600000,
    busy_until = busy_until - 3600000 where account = $1`;
  for (let round = 0; round <= scenario.failures + 4; round += 1) {
    await merchant.query(makeDue, [account]);
    while (await work());
  }
}

async function check(merchant: Merchant, scenarios: readonly Scenario[]): Promise<string[]> {
  const credits = await merchant.credits();
  const [transition, callback] = [merchant.table('transition'), merchant.table('callback')];
  const rows = await merchant.query(
    `select t.account, c.signed, t.state, t.unfinished from ${transition} t join ${callback} c on c.id = t.id`,
  );
  return scenarios.flatMap(({ seed, reference, account, ...outcome }) => {
    const violations: string[] = [];
    const credited = credits.filter((credit) => credit.startsWith(`${reference} `)).join();
    const wanted = outcome.credits === 1 ? `${reference} 500` : '';
    if (credited !== wanted) violations.push(`credited [${credited}] and not [${wanted}]`);
    const found = rows.filter((row) => row['account'] === account);
    const settled = found.filter(
      (row) => row['state'] === 'settled' && String(row['signed']).includes('"COMPLETED"'),
    ).length;
    if (settled !== outcome.credits) violations.push(`${settled} settled`);
    if (found.length !== outcome.states.size) violations.push(`${found.length} transitions`);
    for (const row of found) {
      const name = transitionName(JSON.parse(String(row['signed'])) as SignedFields);
      const allowed = outcome.states.get(name) ?? [];
      const isAllowed = allowed.includes(String(row['state']));
      if (!isAllowed) violations.push(`${name} is ${row['state']}, not ${allowed.join(' or ')}`);
      if (row['unfinished'] !== 0) violations.push(`${name} is unfinished`);
    }
    return violations.map((what) => `seed ${seed}: ${what}`);
  });
}

/** One step of a scenario. */
type Step =
  | { readonly kind: 'expect'; readonly amount: number }
  | { readonly kind: 'receive'; readonly callback: VerifiedCallback }
  | { readonly kind: 'work'; readonly isNewest: boolean }
  /** A worker ends its process after it has started an attempt; `isLate`: the one that follows another one. */
  | { readonly kind: 'crash'; readonly isLate: boolean; readonly isNewest: boolean };

const WHO = { by: 'dana', note: 'the order was changed' };

interface Scenario {
  readonly seed: number;
  readonly reference: string;
  /** Its own account, so that its work steps affect nothing else. */
  readonly account: string;
  readonly steps: readonly Step[];
  /** How often it must be credited in the end, in any order of the steps. */
  readonly credits: 0 | 1;
  /** For each transition, by name: the states in which it may end. */
  readonly states: ReadonlyMap<string, readonly string[]>;
  /** The attempts of the handlers that fail after their effect. */
  readonly failures: number;
  /** A handler for FAILED reverses the payment. */
  readonly isFailedHandled: boolean;
}

/** What a scenario sends, by transition name: all bodies, and which transitions have a genuine one. */
interface Received {
  readonly bodies: Map<string, Set<string>>;
  readonly genuine: Set<string>;
  readonly others: Set<string>;
}

const EXPECTED = 500;

/** The name of a transition within its scenario. */
function transitionName({ internal_reference, transaction_status }: SignedFields): string {
  return `${internal_reference} ${transaction_status}`;
}

/**
 * For a payment of 500: an expectation (perhaps a wrong one first, perhaps none), genuine and forged bodies of one or two
 * transactions, a FAILED for each of them, perhaps with a handler that reverses the payment, duplicates of all these, workers
 * that end, and work between any two steps. On PostgreSQL the next step happens while a handler runs.
 */
function scenarioOf(seed: number): Scenario {
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
  const isFailedHandled = random() < 0.7;
  for (const transaction of [1, 2])
    if (random() < 0.4) receive(transaction, { transaction_status: 'FAILED' });
  for (let work = 1 + upTo(5); work > 0; work -= 1) steps.push({ kind: 'work', isNewest: random() < 0.3 });
  for (let crash = upTo(2); crash > 0; crash -= 1)
    steps.push({ kind: 'crash', isLate: random() < 0.5, isNewest: random() < 0.3 });
  const places = new Map(steps.map((step) => [step, random()]));
  steps.sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  if (isExpected) insertExpectations(steps, random);
  return {
    ...{ seed, reference, account, steps, ...outcomeOf(isExpected, received, isFailedHandled) },
    isFailedHandled,
    failures: random() < 0.2 ? 1 + upTo(1) : 0,
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

/** The right one is last: an expectation may be replaced until it is settled. No body matches the wrong one. */
function insertExpectations(steps: Step[], random: () => number): void {
  const amounts =
    random() < 0.2 ? [EXPECTED + 77, EXPECTED] : random() < 0.2 ? [EXPECTED, EXPECTED] : [EXPECTED];
  const places = amounts.map(() => Math.floor(random() * (steps.length + 1))).sort((a, b) => a - b);
  for (const [index, amount] of amounts.entries()) {
    steps.splice((places[index] ?? 0) + index, 0, { kind: 'expect', amount });
  }
}

function outcomeOf(
  isExpected: boolean,
  { bodies, genuine, others }: Received,
  _isFailedHandled: boolean,
): Pick<Scenario, 'credits' | 'states'> {
  const states = new Map<string, readonly string[]>();
  const credits = isExpected && genuine.size > 0 ? 1 : 0;
  // Of another transaction that has paid, it is out of date; of the same one, it waits for a person.
  const afterFailed = credits === 1 ? ['settled', 'quarantined', 'superseded'] : ['settled'];
  // Its event says that it is completed.
  for (const id of others) states.set(id, afterFailed);
  for (const [id, { size }] of bodies) {
    if (!isExpected) states.set(id, [size > 1 ? 'conflict' : 'unhandled']);
    else if (genuine.has(id)) states.set(id, genuine.size > 1 ? ['settled', 'conflict'] : ['settled']);
    else states.set(id, genuine.size > 0 ? ['quarantined', 'conflict'] : ['quarantined']);
  }
  return { credits, states };
}

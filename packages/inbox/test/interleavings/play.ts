import type { SignedFields } from '@payment-service/core';
import type { HandledTransition, Store } from '../../src/index.ts';
import { keepGroup } from '../../src/intake/keep.ts';
import { callbackRecord } from '../../src/intake/record.ts';
import { checkOptions } from '../../src/options.ts';
import { Statements } from '../../src/store/statements.ts';
import { attempt, dueIn, type WorkContext } from '../../src/work/attempt.ts';
import { checkExpectation, keepExpectation } from '../../src/work/expectation.ts';
import { Handlers } from '../../src/work/handlers.ts';
import type { AnyTransaction, Merchant } from '../support/merchant.ts';
import { type Scenario, type Step, scenarioOf, transitionName } from './scenario.ts';

const HOUR_MS = 3_600_000;

/** A scenario that did not end as it must. */
export interface Violation {
  readonly seed: number;
  readonly what: string;
}

export interface Play {
  readonly merchant: Merchant;
  readonly firstSeed: number;
  readonly count: number;
  /** Scenarios that run side by side. */
  readonly lanes: number;
}

/** Plays scenarios on a real store, each step when its seed says so. */
export async function play({ merchant, firstSeed, count, lanes }: Play): Promise<Violation[]> {
  const store = merchant.newStore();
  await merchant.open({ store }).ready();
  let next = firstSeed;
  const scenarios: Scenario[] = [];
  const runLane = async (): Promise<void> => {
    while (next < firstSeed + count) {
      const scenario = scenarioOf(next);
      next += 1;
      scenarios.push(scenario);
      await new Player(merchant, store, scenario).playAll();
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return check(merchant, scenarios);
}

class Player {
  readonly #merchant: Merchant;
  readonly #store: Store<AnyTransaction>;
  readonly #scenario: Scenario;
  readonly #statements: Statements<AnyTransaction>;
  readonly #context: WorkContext<AnyTransaction>;
  readonly #steps: Step[];
  #isHandling = false;

  constructor(merchant: Merchant, store: Store<AnyTransaction>, scenario: Scenario) {
    this.#merchant = merchant;
    this.#store = store;
    this.#scenario = scenario;
    this.#statements = new Statements(store);
    this.#steps = [...scenario.steps];
    const handlers = new Handlers<AnyTransaction>();
    let { failures } = scenario;
    handlers.add(async ({ tx, signed, settled }: HandledTransition<AnyTransaction>) => {
      await merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
      await this.#meanwhile();
      failures -= 1;
      if (failures >= 0) throw new Error('this attempt fails, after its effect');
    });
    this.#context = {
      store,
      statements: this.#statements,
      settings: checkOptions({ store, account: scenario.account, random: () => 1 }),
      handlers,
      signal: new AbortController().signal,
      enter: async (tx, subjectKey, mark) => {
        if (store.dialect !== 'postgres') return true;
        const [row] = await this.#statements.run('enter_attempt', ['30000', '30000', mark, subjectKey], tx);
        return row?.['is_free'] === true;
      },
    };
  }

  async playAll(): Promise<void> {
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift())
      await this.#play(step);
    // In the end every worker comes by, and every retry is due.
    for (let round = 0; round <= this.#scenario.failures + 2; round += 1) {
      const { account } = this.#scenario;
      const table = this.#merchant.table('transition');
      await this.#merchant.query(`update ${table} set next_at = next_at - ${HOUR_MS} where account = $1`, [
        account,
      ]);
      while (await this.#work());
    }
  }

  /** What happens while a handler runs. SQLite has one writer, so nothing does. */
  async #meanwhile(): Promise<void> {
    if (this.#store.dialect !== 'postgres' || this.#isHandling) return;
    this.#isHandling = true;
    const step = this.#steps.shift();
    if (step !== undefined) await this.#play(step);
    this.#isHandling = false;
  }

  /** @returns whether anything was due. */
  async #work(isCrash = false): Promise<boolean> {
    const [row] = await this.#statements.run('find_due', [this.#scenario.account, -1, 0]);
    if (row === undefined) return false;
    const due = dueIn(row);
    if (isCrash) await this.#statements.run('start_attempt', [due.id, due.nextAt, 1000]);
    else await attempt(due, this.#context);
    return true;
  }

  async #play(step: Step): Promise<void> {
    const { account, reference } = this.#scenario;
    if (step.kind === 'work') {
      await this.#work();
    } else if (step.kind === 'crash') {
      await this.#work(true);
    } else if (step.kind === 'receive') {
      const record = callbackRecord(step.callback, account);
      await this.#store.transaction((tx) => keepGroup(this.#statements, [record], tx));
    } else {
      const given = { merchant_reference: reference, currency: 'UGX', amount: step.amount };
      const expectation = checkExpectation(given, account);
      await this.#store.transaction((tx) =>
        keepExpectation(this.#statements, { expectation, replace: true }, tx),
      );
    }
  }
}

async function check(merchant: Merchant, scenarios: readonly Scenario[]): Promise<Violation[]> {
  const credits = grouped(await merchant.credits(), ({ reference }) => reference);
  const rows = await merchant.query(
    `select account, signed, state, unfinished from ${merchant.table('transition')}`,
  );
  const transitions = grouped(rows, (row) => row['account']);
  return scenarios.flatMap(({ seed, reference, account, outcome }) => {
    const violations: Violation[] = [];
    const amounts = (credits.get(reference) ?? []).map(({ amount }) => amount).join();
    const wanted = outcome.credits === 1 ? '500' : '';
    if (amounts !== wanted) violations.push({ seed, what: `credited [${amounts}] and not [${wanted}]` });
    const found = transitions.get(account) ?? [];
    const settled = found.filter((row) => row['state'] === 'settled').length;
    if (settled !== outcome.credits) violations.push({ seed, what: `${settled} settled` });
    if (found.length !== outcome.states.size) violations.push({ seed, what: `${found.length} transitions` });
    for (const row of found) {
      const name = transitionName(JSON.parse(String(row['signed'])) as SignedFields);
      const allowed = outcome.states.get(name);
      if (!allowed?.includes(String(row['state']))) {
        violations.push({ seed, what: `${name} is ${row['state']}, not ${allowed?.join(' or ')}` });
      }
      if (row['unfinished'] !== 0) violations.push({ seed, what: `${name} is unfinished` });
    }
    return violations;
  });
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => unknown): Map<unknown, T[]> {
  const groups = new Map<unknown, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

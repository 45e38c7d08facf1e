import { checkExpectation } from '../../src/expectation.ts';
import { HandlerGate } from '../../src/handler-gate.ts';
import type { Store } from '../../src/index.ts';
import { callbackRecord, storedSignedFields } from '../../src/intake-record.ts';
import { checkOptions } from '../../src/settings.ts';
import type { Lane, StoreEngine } from '../../src/store.ts';
import { type WorkContext, workStep } from '../../src/work-step.ts';
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
  readonly store: Store<AnyTransaction>;
  readonly firstSeed: number;
  readonly count: number;
  /** Scenarios that run side by side, each with a lane of its own. */
  readonly lanes: number;
}

/** Plays scenarios on a real store, each step when its seed says so. */
export async function play({ merchant, store, firstSeed, count, lanes }: Play): Promise<Violation[]> {
  const engine = store.open({
    storeTimeoutMs: 30_000,
    handlerTimeoutMs: 30_000,
    spool: undefined,
    now: Date.now,
    onConnectionLost: () => undefined,
  });
  await engine.prepare();
  let next = firstSeed;
  const scenarios: Scenario[] = [];
  const runLane = async (): Promise<void> => {
    const lane = await engine.openLane({ handlerTimeoutMs: 30_000, storeTimeoutMs: 30_000 });
    while (next < firstSeed + count) {
      const scenario = scenarioOf(next);
      next += 1;
      scenarios.push(scenario);
      await new Player({ merchant, store, engine, lane, scenario }).playAll();
    }
    await lane.close();
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  await engine.close();
  return check(merchant, scenarios);
}

class Player {
  readonly #engine: StoreEngine<AnyTransaction>;
  readonly #lane: Lane<AnyTransaction>;
  readonly #scenario: Scenario;
  readonly #context: WorkContext<AnyTransaction>;
  #now = 1_000_000;

  constructor({
    merchant,
    store,
    engine,
    lane,
    scenario,
  }: Pick<Play, 'merchant' | 'store'> & {
    engine: StoreEngine<AnyTransaction>;
    lane: Lane<AnyTransaction>;
    scenario: Scenario;
  }) {
    this.#engine = engine;
    this.#lane = lane;
    this.#scenario = scenario;
    const { account } = scenario;
    let failures = scenario.failures;
    this.#context = {
      settings: checkOptions({ store, account, now: () => this.#now, random: () => 1 }),
      tables: engine.tables,
      rules: { statuses: undefined, allowTransitions: { COMPLETED: [] } },
      gate: new HandlerGate(),
      record: async (attempt) => {
        throw attempt;
      },
      handler: {
        async run({ tx, signed, settled }) {
          await merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
          failures -= 1;
          if (failures >= 0) throw new Error('this attempt fails, after its effect');
        },
      },
    };
  }

  async playAll(): Promise<void> {
    for (const step of this.#scenario.steps) await this.#play(step);
    // In the end every worker comes by, and every retry is due.
    for (let round = 0; round <= this.#scenario.failures; round += 1) {
      this.#now += HOUR_MS;
      while ((await workStep(this.#lane, this.#context)) !== 'idle');
    }
  }

  async #play(step: Step): Promise<void> {
    const { account, reference } = this.#scenario;
    this.#now += 1;
    if (step.kind === 'work') {
      await workStep(this.#lane, this.#context);
    } else if (step.kind === 'receive') {
      await this.#engine.receive([callbackRecord(step.callback, account, this.#now)], account);
    } else {
      const expectation = checkExpectation(
        { merchant_reference: reference, currency: 'UGX', amount: step.amount },
        account,
      );
      await this.#engine.expect(expectation, { account, now: this.#now }, undefined);
    }
  }
}

async function check(merchant: Merchant, scenarios: readonly Scenario[]): Promise<Violation[]> {
  const credits = grouped(await merchant.credits(), ({ reference }) => reference);
  const rows = await merchant.query(`select account, signed, state from ${merchant.table('transition')}`);
  const states = grouped(rows, (row) => String(row['account']));
  return scenarios.flatMap(({ seed, reference, account, outcome }) => {
    const amounts = (credits.get(reference) ?? []).map(({ amount }) => amount);
    const wanted = outcome.credits === 1 ? ['500'] : [];
    const violations: Violation[] = [];
    if (JSON.stringify(amounts) !== JSON.stringify(wanted)) {
      violations.push({
        seed,
        what: `credited ${JSON.stringify(amounts)} and not ${JSON.stringify(wanted)}`,
      });
    }
    const found = states.get(account) ?? [];
    const settled = found.filter((row) => row['state'] === 'settled').length;
    if (settled !== outcome.credits) violations.push({ seed, what: `${settled} settled` });
    if (found.length !== outcome.states.size) violations.push({ seed, what: `${found.length} transitions` });
    for (const row of found) {
      const name = transitionName(storedSignedFields(String(row['signed'])));
      const allowed = outcome.states.get(name);
      if (!allowed?.includes(String(row['state']))) {
        violations.push({ seed, what: `${name} is ${row['state']}, not ${allowed?.join(' or ')}` });
      }
    }
    return violations;
  });
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

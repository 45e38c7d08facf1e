import type { SignedFields } from '@payment-service/core';
import type { HandledTransition } from '../../src/index.ts';
import { keepGroup } from '../../src/intake/keep.ts';
import { callbackRecord } from '../../src/intake/record.ts';
import { checkOptions } from '../../src/options.ts';
import { Statements } from '../../src/store/statements.ts';
import { attempt, dueIn, type WorkContext } from '../../src/work/attempt.ts';
import { checkExpectation, keepExpectation } from '../../src/work/expectation.ts';
import { Handlers } from '../../src/work/handlers.ts';
import type { AnyTransaction, Merchant } from '../support/merchant.ts';
import { money } from '../support/shop.ts';
import { type Scenario, type Step, scenarioOf, transitionName } from './scenario.ts';

const HOUR_MS = 3_600_000;

/** Plays the scenarios of the seeds on a real store, several side by side; says which did not end as they must. */
export async function play(merchant: Merchant, seeds: readonly number[], lanes: number): Promise<string[]> {
  const store = merchant.newStore();
  await merchant.open({ store }).ready();
  const scenarios = seeds.map(scenarioOf);
  const left = scenarios.values();
  const runLane = async (): Promise<void> => {
    for (const scenario of left) await playScenario(merchant, store, scenario);
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
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
  const handlers = new Handlers<AnyTransaction>();
  handlers.add(async ({ tx, signed, settled }: HandledTransition<AnyTransaction>) => {
    await merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
    await playMeanwhile();
    failures -= 1;
    if (failures >= 0) throw new Error('this attempt fails, after its effect');
  });
  const context: WorkContext<AnyTransaction> = {
    ...{ store, statements, handlers, signal: new AbortController().signal },
    settings: checkOptions({ store, account, random: () => 1 }),
    async enter(tx, subjectKey, mark) {
      if (store.dialect !== 'postgres') return true;
      const [row] = await statements.run('enter_attempt', ['30000', '30000', mark, subjectKey], tx);
      return row?.['is_free'] === true;
    },
  };

  /** The next step happens while a handler runs. SQLite has one writer, so there nothing does. */
  async function playMeanwhile(): Promise<void> {
    if (store.dialect !== 'postgres' || isHandling) return;
    isHandling = true;
    await playStep(steps.shift());
    isHandling = false;
  }

  /** @returns whether anything was due. */
  async function work(isCrash = false): Promise<boolean> {
    const [row] = await statements.run('find_due', [account, -1, 0]);
    if (row === undefined) return false;
    const due = dueIn(row);
    if (isCrash) await statements.run('start_attempt', [due.id, due.nextAt, 1000]);
    else await attempt(due, context);
    return true;
  }

  async function playStep(step: Step | undefined): Promise<void> {
    if (step === undefined) return;
    if (step.kind === 'work' || step.kind === 'crash') {
      await work(step.kind === 'crash');
    } else if (step.kind === 'receive') {
      const record = callbackRecord(step.callback, account);
      await store.transaction((tx) => keepGroup(statements, [record], tx));
    } else {
      const expectation = checkExpectation(money(reference, step.amount), account);
      await store.transaction((tx) => keepExpectation(statements, { expectation, replace: true }, tx));
    }
  }

  while (steps.length > 0) await playStep(steps.shift());
  // In the end every worker comes by, and every retry is due.
  const makeDue = `update ${merchant.table('transition')} set next_at = next_at - ${HOUR_MS} where account = $1`;
  for (let round = 0; round <= scenario.failures + 2; round += 1) {
    await merchant.query(makeDue, [account]);
    while (await work());
  }
}

async function check(merchant: Merchant, scenarios: readonly Scenario[]): Promise<string[]> {
  const credits = await merchant.credits();
  const table = merchant.table('transition');
  const rows = await merchant.query(`select account, signed, state, unfinished from ${table}`);
  return scenarios.flatMap(({ seed, reference, account, outcome }) => {
    const violations: string[] = [];
    const credited = credits.filter((credit) => credit.startsWith(`${reference} `)).join();
    const wanted = outcome.credits === 1 ? `${reference} 500` : '';
    if (credited !== wanted) violations.push(`credited [${credited}] and not [${wanted}]`);
    const found = rows.filter((row) => row['account'] === account);
    const settled = found.filter((row) => row['state'] === 'settled').length;
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

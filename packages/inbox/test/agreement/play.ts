import { PaymentServiceError } from '@payment-service/core';
import { Statements } from '../../src/store/statements.ts';
import { optionalText } from '../../src/store/store.ts';
import { paymentState } from '../../src/verdict/payment-state.ts';
import { keysOf, type PaymentKey, readFacts } from '../../src/verdict/restate.ts';
import type { AnyTransaction, Merchant } from '../support/merchant.ts';
import { seeded } from '../support/seeded.ts';
import { LATER, NOTE } from '../support/shop.ts';
import { workOff } from '../support/until.ts';
import { disagreements, paymentOf } from './faces.ts';
import { type History, type Step, told } from './history.ts';
import { type Looked, nameOf } from './said.ts';

/** What may be refused: a payment that is settled, canceled or changed meanwhile. */
const REFUSALS: readonly string[] = ['invalid_state', 'stale'];

const LAST: Step = { kind: 'work' };
/** The times of an account, whose clock is moved by moving them; of the tables without an account, those of its reports. */
const TIMES: Readonly<Record<string, readonly string[]>> = {
  callback: ['first_at'],
  transition: ['next_at', 'busy_until', 'changed_at'],
  payment: ['deadline_at', 'settled_at', 'canceled_at', 'changed_at'],
  body: ['first_at'],
  delivery: ['last_at'],
};

const HOUR_MS = 3_600_000;

/** Advances the clock of one account. */
export async function advance({ query, table }: Merchant, account: string, ms: number): Promise<void> {
  for (const [name, times] of Object.entries(TIMES)) {
    const isOfReport = name === 'body' || name === 'delivery';
    const own = isOfReport
      ? `transition in (select id from ${table('callback')} where account = $1)`
      : 'account = $1';
    await query(
      `update ${table(name)} set ${times.map((time) => `${time} = ${time} - ${ms}`)} where ${own}`,
      [account],
    );
  }
  const kinds = `(select id from ${table('archive_kind')} where account = $1)`;
  await query(`update ${table('archive')} set changed_at = changed_at - ${ms} where kind in ${kinds}`, [
    account,
  ]);
  // Whole hours are summed. In two steps: an hour can become another one that is still there.
  const whole = ms - (ms % HOUR_MS);
  for (const moved of [`-(hour - ${whole})`, '-hour'])
    await query(`update ${table('hour')} set hour = ${moved} where account = $1`, [account]);
}

/** The payments that a step is about; undefined if it can be about all. */
function keysIn(step: Step): readonly PaymentKey[] | undefined {
  if (step.kind === 'receive') return [step.callback.signed];
  return 'key' in step ? [step.key] : undefined;
}

/** Plays a history. @returns what is wrong after the first step where something is. */
export async function playHistory(
  merchant: Merchant,
  store: ReturnType<Merchant['newStore']>,
  history: History,
): Promise<string[]> {
  const { account, seed, keys, total } = history;
  const random = seeded(seed + 1);
  const retry = { ...LATER.retry, attempts: history.attempts };
  const inbox = merchant.open({ store: { ...store, close: async () => undefined }, account, retry });
  let effects = 0;
  const again = new Map<string, number>();
  const effect =
    (name: string) =>
    async ({ tx, payment }: { tx: AnyTransaction; payment: Effect }) => {
      effects += 1;
      const amount = `${String(effects).padStart(4, '0')} ${name} ${payment.settled?.amount}`;
      await merchant.credit(tx, `${account} ${nameOf(payment)}`, amount);
      if (random() < history.failing) throw new Error('this attempt fails, after its effect');
    };
  for (const name of ['paid', ...history.handled] as const) inbox.handle(name, effect(name));
  await inbox.ready();
  const statements = new Statements(store);

  async function playStep(step: Step, isAlone: boolean): Promise<void> {
    if (step.kind === 'work') return workOff(inbox);
    if (step.kind === 'receive') return inbox.route.onCallback(step.callback);
    if (step.kind === 'refuse') return inbox.route.onAuthenticRefusal(step.refusal);
    if (step.kind === 'advance') return advance(merchant, account, step.ms);
    if (step.kind === 'prune') {
      await inbox.prune(step.isArchiving ? { archiveOlderThanDays: 1 } : {});
      return;
    }
    if (step.kind === 'together') {
      const all = await Promise.allSettled(step.steps.map((each) => playStep(each, false)));
      for (const each of all) if (each.status === 'rejected') throw each.reason;
      return;
    }
    if (step.kind === 'act') return act(step, isAlone);
    const { key, amount } = step;
    const deadline = step.kind === 'expect' && step.minutes !== undefined ? step.minutes * 60_000 : undefined;
    const expectation = {
      ...{ ...key, currency: 'UGX', amount },
      ...(total !== undefined && { order: { id: 'ORDER', total } }),
      ...(deadline !== undefined && { deadline: new Date(Date.now() + deadline) }),
    };
    await inbox.expect(expectation, step.kind === 'replace' ? { replace: NOTE } : {}).catch(allow);
  }

  async function act({ key, choice, amount }: Step & { kind: 'act' }, isAlone: boolean): Promise<void> {
    const payment = await inbox.payment(key.merchant_reference, key.transaction_type);
    const offered = payment?.acts[Math.floor(choice * payment.acts.length)];
    if (offered === undefined) return;
    if (offered.name === 'applyAgain') again.set(nameOf(key), 1 + (again.get(nameOf(key)) ?? 0));
    const money = offered.name === 'expect' ? { currency: 'UGX', amount: String(amount) } : {};
    // Whatever is offered is possible, as long as nothing else happens.
    await inbox.act(offered, { ...NOTE, ...money }).catch((error: unknown) => {
      if (isAlone) throw new Error(`${offered.name} was offered, and refused`, { cause: error });
      allow(error);
    });
  }

  const done: string[] = [];
  for (const step of [...history.steps, LAST]) {
    done.push(told(step));
    const wrong: string[] = [];
    try {
      await playStep(step, true);
      if (step.kind === 'together') await workOff(inbox);
      const looked = { merchant, inbox, account, keys };
      wrong.push(
        ...(await disagreements({ ...looked, keys: keysIn(step) ?? keys }, step === LAST ? seed : undefined)),
      );
      if (step.kind === 'work' || step.kind === 'together')
        wrong.push(...(await wrongAtRest(statements, looked, again)));
    } catch (error) {
      wrong.push(`${error} ${error instanceof Error && error.cause !== undefined ? error.cause : ''}`);
    }
    if (wrong.length > 0)
      return [
        `seed ${seed}, handlers ${history.handled}:\n  ${done.join('\n  ')}\n  => ${wrong.join('\n     ')}`,
      ];
  }
  return [];
}

interface Effect extends PaymentKey {
  readonly settled?: { readonly amount: string } | undefined;
}

function allow(error: unknown): void {
  if (!(error instanceof PaymentServiceError) || !REFUSALS.includes(error.code)) throw error;
}

/**
 * When nothing is due: whether all payments are listed, are what their reports say now, and have the effects of their state.
 *
 * @param again How often each was applied again.
 */
async function wrongAtRest(
  statements: Statements<AnyTransaction>,
  looked: Looked,
  again: ReadonlyMap<string, number>,
): Promise<string[]> {
  const { merchant, inbox, account, keys } = looked;
  const wrong: string[] = [];
  const own = await paymentOf(looked);
  for (const key of keys) {
    const name = nameOf(key);
    const payment = await inbox.payment(key.merchant_reference, key.transaction_type);
    // As it is stored: that an open payment is overdue is said when it is read.
    const [row] = await statements.run('lock_payment', keysOf(key, account));
    // What nothing is expected of is listed once a worker has come to a verdict.
    const isJudged = payment?.reports.some(({ state }) => state !== 'pending' && state !== 'retrying');
    const isKnown = payment?.expected !== undefined || isJudged;
    if (isKnown && !payment?.isArchived && row === undefined) wrong.push(`${name} is not listed`);
    if (row !== undefined) {
      const fresh = paymentState(await readFacts(statements, { ...key, account }, row));
      const stored = { state: row['state'], needs: optionalText(row, 'needs') };
      if (fresh.state !== stored.state || fresh.needs !== stored.needs)
        wrong.push(
          `${name} is stored as ${JSON.stringify(stored)}, and its reports say ${JSON.stringify(fresh)}`,
        );
    }
    const effects = await merchant.query('select amount from credit where reference = $1', [
      `${account} ${name}`,
    ]);
    const all = effects.map((each) => String(each['amount'])).toSorted();
    // A reversal of what was not paid takes nothing back.
    const money = all.filter((each) => / (paid|reversed) \d/.test(each));
    const credits = money.filter((each) => each.includes(' paid ')).length;
    if (credits > 1 + (again.get(name) ?? 0)) wrong.push(`${name} was credited ${credits} times`);
    const [, verb, amount] = money.at(-1)?.split(' ') ?? [];
    const isPaid = payment?.settled !== undefined;
    if (isPaid !== credits > 0 || (isPaid && (verb !== payment.state || amount !== payment.settled?.amount)))
      wrong.push(`${name} is [${own.get(name)}], and its effects are [${all}]`);
  }
  return wrong;
}

import { checkOptions } from '@payment-service/core/internal';
import { wholeNumber } from '../option-rules.ts';
import { choiceOf, dateOf, numberOf } from '../store/store.ts';
import type { Settled } from '../verdict/evaluate.ts';
import { PAYMENT_STATES, STORED_PAYMENT_STATES } from '../verdict/payment-state.ts';
import type { PaymentKey } from '../verdict/restate.ts';
import { jsonTextOf, reasonIn } from '../verdict/stored-values.ts';
import { HOUR_MS, readClock, sumsOf, totalSettled } from './hours.ts';
import { readPage } from './payments/list-payments.ts';
import type { PaymentSummary } from './payments/payment-summary.ts';
import { findReports, type OperatorContext } from './reports.ts';

/** What was settled on one day, UTC. */
export interface DayTotal {
  /** Its beginning, UTC. */
  readonly day: Date;
  readonly currency: string;
  readonly transaction_type: string;
  readonly count: number;
  /** Canonical decimal string, exact. */
  readonly amount: string;
}

/** A payment that is not credited and waits: a held one for a person, an open one for a worker, which has a report of it. */
export interface OpenPayment {
  readonly state: 'held' | 'open';
  readonly transaction_type: string;
  readonly since: Date;
  /** What is expected of it. */
  readonly currency: string | undefined;
  readonly amount: string | undefined;
}

/** What happened in the last days, for charts: every part of it is read by index, and none adds up what is old. */
export interface InboxHistory {
  /** The beginning of the first day, UTC. */
  readonly from: Date;
  /** When it was read, by the clock of the database. */
  readonly to: Date;
  /** Your own expectations, not what callbacks claim; the oldest day first. */
  readonly settled: readonly DayTotal[];
  /** The 500 held ones that changed last, and those of the first 500 reports that are due or are tried again. */
  readonly open: readonly OpenPayment[];
  /** Each payment that has changed in the last 48 hours and is not archived: the newest 1,500 of each state. */
  readonly outcomes: readonly (Pick<PaymentSummary, 'state' | 'needs'> & { readonly at: Date })[];
  /** How long the newest settlements took from the first delivery, at most 1,000 of the last 48 hours. */
  readonly delays: readonly { readonly at: Date; readonly seconds: number }[];
}

export const DAY_MS: number = 24 * HOUR_MS;
const MAX_DAYS = 31;
/** The limit for those that wait for a person, and for those that wait for a worker. */
export const MAX_OPEN = 500;
const MAX_DELAYS = 1000;
/** The limit for each state. */
export const MAX_OUTCOMES = 1500;

/** @throws {ConfigurationError} Names a wrong option. */
export async function readHistory<Tx>(
  context: OperatorContext<Tx>,
  options: { readonly days?: number | undefined },
): Promise<InboxHistory> {
  checkOptions('history()', options, { days: wholeNumber(MAX_DAYS) });
  const to = await readClock(context);
  const from = to - (to % DAY_MS) - ((options.days ?? 30) - 1) * DAY_MS;
  // Three connections at most: receivers need the others.
  const [settled, open, [outcomes, delays]] = await Promise.all([
    settledOn(context, from, to),
    openNow(context),
    recently(context, Math.max(from, to - 2 * DAY_MS)),
  ]);
  return { from: new Date(from), to: new Date(to), settled, open, outcomes, delays };
}

async function settledOn<Tx>(context: OperatorContext<Tx>, from: number, to: number): Promise<DayTotal[]> {
  const { statements, settings } = context;
  const [last = {}] = await statements.run('last_hour', [settings.account]);
  const summed = last['hour'] === null ? from : Math.max(from, numberOf(last, 'hour') + HOUR_MS);
  const hours = await statements.run('read_hours', [settings.account, from]);
  const parts = hours.map((row) => ({ at: numberOf(row, 'hour'), row, times: 1 }));
  // Usually an hour or two of today; more only until a worker has summed what is before them.
  for (let at = summed; at <= to; at += DAY_MS - (at % DAY_MS)) {
    const rows = await totalSettled(context, at, at + DAY_MS - (at % DAY_MS));
    parts.push(...rows.map((row) => ({ at, row, times: numberOf(row, 'count') })));
  }
  const byDay = [...Map.groupBy(parts, ({ at }) => at - (at % DAY_MS))].sort(([one], [other]) => one - other);
  return byDay.flatMap(([day, same]) =>
    sumsOf(
      same.map(({ row }) => row),
      same.map(({ times }) => times),
    ).map(({ currency, type, amount, count }) => {
      const transaction_type = jsonTextOf({ type }, 'type');
      return { day: new Date(day), currency, transaction_type, count, amount };
    }),
  );
}

async function openNow<Tx>(context: OperatorContext<Tx>): Promise<OpenPayment[]> {
  const { items } = await readPage(context, { state: 'held', limit: MAX_OPEN });
  const open = new Map(items.map((held) => [nameOf(held), waitingOf('held', held, held.changedAt)]));
  for (const state of ['pending', 'retrying'] as const)
    for (const { summary, expectation } of await findReports(context, { state, limit: MAX_OPEN })) {
      const { signed, changedAt } = summary;
      const known = open.get(nameOf(signed));
      const isCredited = expectation?.settledBy !== undefined || expectation?.isCanceled;
      if (expectation === undefined || isCredited || known?.state === 'held') continue;
      // By the oldest of its reports.
      if (known === undefined || changedAt < known.since)
        open.set(nameOf(signed), waitingOf('open', { ...signed, expected: expectation }, changedAt));
    }
  return [...open.values()];
}

const nameOf = ({ merchant_reference, transaction_type }: PaymentKey): string =>
  JSON.stringify([merchant_reference, transaction_type]);

const waitingOf = (
  state: OpenPayment['state'],
  {
    transaction_type,
    expected,
  }: Pick<PaymentSummary, 'transaction_type'> & { readonly expected: Settled | undefined },
  since: Date,
): OpenPayment => ({
  state,
  transaction_type,
  since,
  currency: expected?.currency,
  amount: expected?.amount,
});

type Recent = readonly [outcomes: InboxHistory['outcomes'], delays: InboxHistory['delays']];

async function recently<Tx>({ statements, settings }: OperatorContext<Tx>, since: number): Promise<Recent> {
  const outcomes: InboxHistory['outcomes'][number][] = [];
  for (const state of STORED_PAYMENT_STATES)
    for (const row of await statements.run('list_changes', [settings.account, state, since, MAX_OUTCOMES]))
      outcomes.push({
        at: dateOf(row, 'changed_at'),
        state: choiceOf(row, 'state', PAYMENT_STATES),
        needs: reasonIn({ reason: row['needs'] }, 'reason'),
      });
  const rows = await statements.run('list_delays', [settings.account, since, MAX_DELAYS]);
  const delays = rows.map((row) => ({
    at: dateOf(row, 'at'),
    seconds: Math.max(0, numberOf(row, 'ms')) / 1000,
  }));
  return [outcomes, delays];
}

import { hash } from 'node:crypto';
import { sumOfProducts } from '@payment-service/core/reconcile';
import {
  bars,
  count,
  counted,
  durations,
  exactSpan,
  type Figures,
  html,
  type Markup,
  type Series,
  share,
  short,
  sum,
} from '@payment-service/pages';
import { type InboxHistory, MAX_OPEN, MAX_OUTCOMES, type OpenPayment } from '../../operator/history.ts';
import type { PaymentState } from '../../verdict/payment-state.ts';
import { moneyText } from './summary.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Each currency has a scale of its own, and a payout is no income, so each currency of each type has a chart. */
const MAX_DRAWN = 6;

const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const hourText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 13).replace('T', ' ')}:00`;

/** Money, outcomes and delays as charts; nothing before the first payment. */
export function historyCharts(history: InboxHistory): Markup {
  const drawn = [...money(history), outcomes(history), delays(history)].filter((one) => one !== '');
  if (drawn.length === 0) return html``;
  return html`<section class="stack" id="history" aria-labelledby="history-title"><h2 id="history-title">The last days, in UTC</h2><div class="charts">${drawn}</div></section>`;
}

/** What is drawn together: one currency of one type. */
interface Kind {
  readonly currency: string;
  readonly transaction_type: string;
}

/** What was credited on each day, with what waits on top, by currency and type; the one with most payments first. */
function money({ from, to, settled, open }: InboxHistory): Markup[] {
  const starts: number[] = [];
  for (let day = from.getTime(); day <= to.getTime(); day += DAY_MS) starts.push(day);
  const kinds = new Map<string, Kind & { readonly payments: number }>();
  for (const { currency, transaction_type, count } of [
    ...settled,
    ...open.map((one) => ({ ...one, count: 0 })),
  ]) {
    if (!currency) continue;
    const key = JSON.stringify([currency, transaction_type]);
    kinds.set(key, { currency, transaction_type, payments: (kinds.get(key)?.payments ?? 0) + count });
  }
  const drawn = [...kinds.values()].sort((one, other) => other.payments - one.payments).slice(0, MAX_DRAWN);
  return drawn.map(({ currency, transaction_type: type }) => {
    const isMine = (one: Pick<OpenPayment, keyof Kind>): boolean =>
      one.currency === currency && one.transaction_type === type;
    const waiting = Map.groupBy(open.filter(isMine), ({ since }) =>
      Math.max(from.getTime(), since.getTime() - (since.getTime() % DAY_MS)),
    );
    const days = starts.map((day) => {
      const own = waiting.get(day) ?? [];
      const held = own.filter(({ state }) => state === 'held');
      const mine = settled.filter((one) => isMine(one) && one.day.getTime() === day);
      return { mine, held, waits: own.filter((one) => !held.includes(one)) };
    });
    const series: Series[] = [
      { look: 'good', word: 'Credited', values: days.map(({ mine }) => amountOf(mine)) },
      { look: 'wait', word: 'About to be credited', values: days.map(({ waits }) => amountOf(waits)) },
      { look: 'bad', word: 'Waits for a person', values: days.map(({ held }) => amountOf(held)) },
    ];
    const [done = 0, ...rest] = series.map(({ values }) => sum(values));
    const left = sum(rest);
    const exact = (all: readonly { readonly amount: string | undefined }[]): string =>
      moneyText({ currency, amount: sumOfProducts(all.map(({ amount }) => [amount ?? 0, 1])) });
    const figures: Figures = [
      ['Day', 'Credited', 'Payments', ...series.slice(1).map(({ word }) => word)],
      ...days.flatMap(({ mine, waits, held }, index): Figures => {
        if ([mine, waits, held].every(({ length }) => length === 0)) return [];
        const payments = count(sum(mine.map((one) => one.count)));
        return [[dayText(starts[index] ?? 0), exact(mine), payments, exact(waits), exact(held)]];
      }),
    ];
    const isUsual = type === 'COLLECTION';
    return bars({
      id: `money-${currency}${isUsual ? '' : `-${hash('sha256', type).slice(0, 8)}`}`,
      title: `${isUsual ? '' : `${type}: `}${currency} ${short(done)} credited in ${starts.length} days${left > 0 ? `, ${shareOf(left, done + left, open)} of the money waits` : ', nothing waits'}`,
      note: `${currency} a day of the type ${type}, by your own expectations.${cutNote(open)}`,
      starts,
      series,
      textOf: (value) => `${currency} ${count(value)}`,
      figures,
    });
  });
}

/** Where not all of what waits is known, its share is a minimum, and the note says so. */
const isCut = (open: readonly OpenPayment[]): boolean =>
  [...Map.groupBy(open, ({ state }) => state === 'held').values()].some(({ length }) => length >= MAX_OPEN);
const cutNote = (open: readonly OpenPayment[]): string =>
  isCut(open) ? ` Only ${MAX_OPEN} of the waiting payments are included.` : '';
const shareOf = (part: number, whole: number, open: readonly OpenPayment[]): string =>
  `${isCut(open) ? 'at least ' : ''}${share(part, whole)}`;

/** For lengths and rounded titles: the tables have the exact sums. */
const amountOf = (all: readonly { readonly amount: string | undefined }[]): number =>
  sum(all.map(({ amount }) => Number(amount ?? 0)));

/** The series of each state. */
const OUTCOMES: readonly (readonly [Series['look'], string, readonly PaymentState[]])[] = [
  ['good', 'Paid', ['paid']],
  ['neutral', 'Failed', ['failed']],
  ['accent', 'Reversed or canceled', ['reversed', 'canceled']],
  ['info', 'Unexpected', ['unexpected']],
  ['wait', 'Open or overdue', ['open', 'overdue']],
  ['bad', 'Held', ['held']],
];

/** What became of the payments that changed in each hour. */
function outcomes({ to, outcomes: changed }: InboxHistory): Markup | '' {
  const end = to.getTime() - (to.getTime() % HOUR_MS);
  // From the hour on in which nothing of any state is cut off, so that shares are of all payments.
  const cut = [...Map.groupBy(changed, ({ state }) => (state === 'overdue' ? 'open' : state)).values()]
    .filter(({ length }) => length >= MAX_OUTCOMES)
    .map(([oldest]) => Math.ceil((oldest?.at.getTime() ?? 0) / HOUR_MS) * HOUR_MS);
  const first = Math.min(end, Math.max(end - 47 * HOUR_MS, ...cut));
  const starts: number[] = [];
  for (let hour = first; hour <= end; hour += HOUR_MS) starts.push(hour);
  const all = changed.filter(({ at }) => at.getTime() >= first);
  if (all.length === 0) return '';
  const byHour = Map.groupBy(all, ({ at }) => at.getTime() - (at.getTime() % HOUR_MS));
  const series: Series[] = OUTCOMES.map(([look, word, states]) => ({
    look,
    word,
    values: starts.map(
      (start) => (byHour.get(start) ?? []).filter(({ state }) => states.includes(state)).length,
    ),
  }));
  const failed = all.filter(({ state }) => state === 'failed').length;
  const needed = all.filter(({ needs }) => needs !== undefined).length;
  return bars({
    id: 'outcomes',
    title: `${share(failed, all.length)} of ${counted(all.length, 'payment')} failed in ${counted(starts.length, 'hour')}, ${needed === 0 ? 'none of them waits' : `${share(needed, all.length)} of them wait`} for a person`,
    note: 'Payments by the hour of their last change, by what became of them.',
    starts,
    series,
  });
}

/** How long payments waited for their credit: the middle one and the slowest in a hundred of each hour. */
function delays({ to, delays: found }: InboxHistory): Markup | '' {
  if (found.length === 0) return '';
  const hours = [...Map.groupBy(found, ({ at }) => at.getTime() - (at.getTime() % HOUR_MS))];
  const rows = hours.map(([hour, same]) => {
    const sorted = same.map(({ seconds }) => Math.max(1, seconds * 1000)).sort((one, other) => one - other);
    return { hour, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), payments: sorted.length };
  });
  const all = found.map(({ seconds }) => Math.max(1, seconds * 1000)).sort((one, other) => one - other);
  const first = Math.min(...hours.map(([hour]) => hour), to.getTime() - HOUR_MS);
  return durations({
    id: 'delays',
    title: `Half of the payments were credited ${exactSpan(quantile(all, 0.5))} after their first report, 99 % within ${exactSpan(quantile(all, 0.99))}`,
    note: 'From the first report to the credit, by hour, on a logarithmic scale; the newest 1,000 payments.',
    from: first,
    to: to.getTime(),
    everyMs: HOUR_MS,
    lines: [
      { look: 'accent', word: 'Half of them (p50)', points: rows.map(({ hour, p50 }) => [hour, p50]) },
      { look: 'wait', word: '99 of 100 (p99)', points: rows.map(({ hour, p99 }) => [hour, p99]) },
    ],
    figures: [
      ['Hour', 'Half within', '99 of 100 within', 'Payments'],
      ...rows.map(({ hour, p50, p99, payments }) => [
        hourText(hour),
        exactSpan(p50),
        exactSpan(p99),
        count(payments),
      ]),
    ],
  });
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

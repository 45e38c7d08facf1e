import {
  bars,
  capital,
  count,
  counted,
  html,
  type Legend,
  type Look,
  type Markup,
  moment,
  plot,
  short,
  sum,
  time,
  utc,
} from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import { amountText, toAmount } from '../../state/money.ts';
import type { DeliveryRecord, EntryRecord, WalletType } from '../../state/records.ts';
import { amount, toneOf, wallets } from './cells.ts';
import { deliveryTone, outcomes } from './delivery-states.ts';

/** How much is drawn, so that a page of a long-lived sandbox stays small. */
const MAX_DELIVERIES = 300;
const MAX_BARS = 24;

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
/** The widths of bars. */
const WIDTHS = [1000, 5000, 15_000, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 180 * MINUTE, 360 * MINUTE];

/** The starts of at most 24 bars of one round width, from the first to the last time. */
function startsOf(first: number, last: number): { width: number; starts: number[] } {
  const fits = (width: number): boolean => last - Math.floor(first / width) * width < MAX_BARS * width;
  const width = WIDTHS.find(fits) ?? DAY * Math.ceil((last - first) / DAY / (MAX_BARS - 1));
  const start = Math.floor(first / width) * width;
  return {
    width,
    starts: Array.from({ length: Math.floor((last - start) / width) + 1 }, (_, at) => start + at * width),
  };
}

/** The part of the failures that a title places in time. */
const MOST = 0.8;

/** Deliveries by the time of their newest attempt and by outcome, and the response time of every attempt. */
export function deliveryCharts(service: Service): Markup | string {
  const sent = service.store
    .list('delivery')
    .flatMap((one) => one.attempts.slice(-1).map((last) => ({ one, at: last.at })))
    .slice(-MAX_DELIVERIES)
    .sort((a, b) => a.at - b.at);
  const [first, last] = [sent[0]?.at, sent.at(-1)?.at];
  if (first === undefined || last === undefined) return '';
  const { width, starts } = startsOf(first, last);
  const spanMs = width * starts.length;
  const series = Object.entries(outcomes).map(([look, word]) => {
    const own = sent.filter(({ one }) => deliveryTone(service, one) === look);
    const values = starts.map((start) => own.filter(({ at }) => at >= start && at < start + width).length);
    return { look: look as Look, word, values };
  });
  const failures = series.find(({ look }) => look === 'bad')?.values ?? [];
  const failed = sum(failures);
  const sumFrom = (index: number): number => sum(failures.slice(index));
  const since = starts.findLastIndex((_, index) => sumFrom(index) >= MOST * failed);
  const most = sumFrom(since) === failed ? 'all' : `${count(sumFrom(since))} of them`;
  const isLate = since > 0 && failed > 1;
  const when = isLate ? `, ${most} since ${moment(starts[since] ?? 0, spanMs)}` : '';
  const total = counted(sent.length, 'delivery', 'deliveries');
  const why = new URLSearchParams({ state: 'bad', ...(isLate && { since: String(starts[since]) }) });
  return html`${bars({
    id: 'outcomes',
    title: failed === 0 ? `${total}, none failed` : `${count(failed)} of ${total} failed${when}`,
    note: html`Deliveries by the time of their newest attempt, in UTC${sent.length === MAX_DELIVERIES ? '; the newest 300' : ''}${failed === 0 ? '' : html`. <a href="/deliveries?${why.toString()}">Why they failed</a>`}`,
    starts,
    series,
  })}${responseTimes(
    service,
    sent.map(({ one }) => one),
  )}`;
}

const DOTS: Legend = [
  ['good', 'As expected'],
  ['info', 'Not judged'],
  ['bad', 'Failed'],
];

const msText = (ms: number): string => (ms < 1000 ? `${count(ms)} ms` : `${short(ms / 1000)} s`);

/** Every attempt as a dot, below the time that the sandbox waits for an answer. */
function responseTimes(service: Service, deliveries: readonly DeliveryRecord[]): Markup | string {
  const answered = deliveries
    .flatMap((one) =>
      one.attempts.flatMap((attempt, index) => {
        const look = toneOf(service.outcomeOf(one, attempt));
        return attempt.ms === null ? [] : [{ one, attempt, number: index + 1, ms: attempt.ms, look }];
      }),
    )
    .sort((a, b) => a.attempt.at - b.attempt.at)
    .slice(-MAX_DELIVERIES);
  const [first, last] = [answered[0]?.attempt.at, answered.at(-1)?.attempt.at];
  if (first === undefined || last === undefined) return '';
  const rowOf = (name: string, own: typeof answered): string[] => {
    const times = own.map(({ ms }) => ms).sort((a, b) => a - b);
    const bad = own.filter(({ look }) => look === 'bad').length;
    const [half = 0, most = 0] = [times[Math.ceil(times.length / 2) - 1], times.at(-1)];
    return [name, count(own.length), count(bad), `${count(half)} ms`, `${count(most)} ms`];
  };
  const all = rowOf('All', answered);
  const byEndpoint = Map.groupBy(answered, ({ one }) => one.url);
  const [, total, bad, half, most] = all;
  return plot({
    id: 'response-times',
    title:
      answered.length === 1
        ? `1 attempt took ${most}`
        : `Half of ${total} attempts within ${half}, slowest ${most}`,
    note: `Response times on a logarithmic scale; ${bad} failed${answered.length === MAX_DELIVERIES ? '; the newest 300 attempts' : ''}`,
    from: Math.min(first, last - MINUTE),
    to: last,
    isLog: true,
    textOf: msText,
    dots: answered.map(({ one, attempt, number, ms, look }) => ({
      at: attempt.at,
      value: ms,
      look,
      text: `${utc(attempt.at)}. Delivery ${one.id}, attempt ${number}: ${attempt.status === null ? 'no answer' : `HTTP ${attempt.status}`} after ${count(ms)} ms`,
    })),
    limit: { value: service.timeoutMs, word: `no answer after ${msText(service.timeoutMs)}` },
    legend: DOTS.filter(([look]) => answered.some((one) => one.look === look)),
    figures: [
      ['Endpoint', 'Attempts', 'Failed', 'Median', 'Slowest'],
      ...[...byEndpoint].map(([url, own]) => rowOf(url, own)),
      ...(byEndpoint.size > 1 ? [all] : []),
    ],
  });
}

const MAX_STEPS = 60;
const BUCKETS = [
  ['accent', 'available'],
  ['wait', 'uncleared'],
  ['neutral', 'reserve'],
] as const;

/** The balances of each wallet of a currency that has entries. */
export const balanceCharts = (entries: readonly EntryRecord[], currency: string): Markup[] =>
  [...Map.groupBy(entries, ({ walletType }) => walletType)].map(([walletType, own]) =>
    balanceChart(own, currency, walletType),
  );

/** The balances of one wallet after each change, as its entries add up. */
function balanceChart(own: readonly EntryRecord[], currency: string, walletType: WalletType): Markup {
  let now = { at: 0, available: 0, uncleared: 0, reserve: 0 };
  const steps: (typeof now)[] = [];
  for (const { at: recorded, bucket, amount: minor } of own) {
    // The clock may have been set back.
    const at = Math.max(recorded, now.at);
    // What happens together, such as clearing, is one step.
    if (at === now.at) steps.pop();
    now = { ...now, at, [bucket]: now[bucket] + minor };
    steps.push(now);
  }
  const every = Math.ceil(steps.length / MAX_STEPS);
  const drawn = steps.filter((_, index) => (steps.length - 1 - index) % every === 0);
  const to = now.at + Math.max(MINUTE, (now.at - (drawn[0]?.at ?? now.at)) / 20);
  const whole = (minor: number): number => toAmount(minor, currency);
  const actual = now.available + now.uncleared + now.reserve;
  const available = now.available === actual ? 'all' : `${amountText(whole(now.available), currency)} of it`;
  return plot({
    id: `balances-${currency}-${walletType}`,
    title: `${amountText(whole(actual), currency)} in the ${wallets[walletType]}, ${available} available`,
    note: `Balance after ${every === 1 ? 'each change' : `${count(drawn.length)} of ${count(steps.length)} changes`}, in ${currency}; times are UTC`,
    from: drawn[0]?.at ?? now.at,
    to,
    areas: {
      times: [...drawn.map(({ at }) => at), to],
      series: BUCKETS.flatMap(([look, bucket]) =>
        drawn.every((step) => step[bucket] === 0)
          ? []
          : [{ look, word: capital(bucket), values: [...drawn, now].map((step) => whole(step[bucket])) }],
      ),
    },
    figures: [
      ['After', 'Available', 'Uncleared', 'Reserve', 'Actual'],
      ...drawn.map(({ at, available, uncleared, reserve }) => [
        time(at),
        ...[available, uncleared, reserve, available + uncleared + reserve].map((minor) =>
          amount(whole(minor), currency),
        ),
      ]),
    ],
  });
}

import {
  areas,
  bars,
  capital,
  count,
  counted,
  durations,
  exactSpan,
  html,
  type Look,
  type Markup,
  moment,
  sum,
  time,
} from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import { amountText, toAmount } from '../../state/money.ts';
import type { DeliveryRecord, EntryRecord, WalletType } from '../../state/records.ts';
import { amount, toneOf, wallets } from './cells.ts';
import { deliveryTone, outcomes } from './delivery-states.ts';

/** How much is drawn, so that a page of a long-lived sandbox stays small. */
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
  const begun = moment(starts[since] ?? 0, spanMs);
  const when = isLate ? `, ${most} since ${begun}` : '';
  const total = counted(sent.length, 'delivery', 'deliveries');
  const why = failed === 0 ? '' : html`. <a href="/deliveries/failures">Why ${count(failed)} failed</a>`;
  const whyLately =
    isLate && most !== 'all'
      ? html`, <a href="/deliveries/failures?since=${starts[since]}">why ${count(sumFrom(since))} since ${begun}</a>`
      : '';
  return html`${bars({
    id: 'outcomes',
    title: failed === 0 ? `${total}, none failed` : `${count(failed)} of ${total} failed${when}`,
    note: html`Deliveries by the time of their newest attempt, in UTC${why}${whyLately}`,
    starts,
    series,
  })}${responseTimes(
    service,
    sent.map(({ one }) => one),
  )}`;
}

const msText = (ms: number): string => `${count(ms)} ms`;

/** How long endpoints took to answer, against the time that the sandbox waits for an answer. */
function responseTimes(service: Service, deliveries: readonly DeliveryRecord[]): Markup | string {
  const answered = deliveries
    .flatMap((one) =>
      one.attempts.flatMap(({ at, ms, ...attempt }) => {
        const isBad = toneOf(service.outcomeOf(one, { at, ms, ...attempt })) === 'bad';
        return ms === null ? [] : [{ url: one.url, at, ms: Math.max(1, ms), isBad }];
      }),
    )
    .sort((a, b) => a.at - b.at);
  const [first, last] = [answered[0]?.at, answered.at(-1)?.at];
  if (first === undefined || last === undefined) return '';
  const { width, starts } = startsOf(first, last);
  const timesOf = (own: typeof answered): { half: number; most: number } => {
    const times = own.map(({ ms }) => ms).sort((a, b) => a - b);
    return { half: times[Math.ceil(times.length / 2) - 1] ?? 0, most: times.at(-1) ?? 0 };
  };
  const rowOf = (name: Markup | string, own: typeof answered): (Markup | string)[] => {
    const { half, most } = timesOf(own);
    const bad = own.filter(({ isBad }) => isBad).length;
    return [name, count(own.length), count(bad), msText(half), msText(most)];
  };
  const bins = starts.flatMap((start) => {
    const own = answered.filter(({ at }) => at >= start && at < start + width);
    return own.length === 0 ? [] : [{ start, own, ...timesOf(own) }];
  });
  const byEndpoint = Map.groupBy(answered, ({ url }) => url);
  const { half, most } = timesOf(answered);
  const failed = answered.filter(({ isBad }) => isBad).length;
  return durations({
    id: 'response-times',
    title:
      answered.length === 1
        ? `1 attempt took ${msText(most)}`
        : `Half of ${count(answered.length)} attempts within ${msText(half)}, slowest ${msText(most)}`,
    note: `Response times in steps of ${exactSpan(width)}, on a logarithmic scale; ${count(failed)} failed`,
    from: starts[0] ?? first,
    to: (starts.at(-1) ?? first) + width,
    everyMs: width,
    lines: [
      { look: 'accent', word: 'Half within', points: bins.map(({ start, half }) => [start, half]) },
      { look: 'wait', word: 'Slowest', points: bins.map(({ start, most }) => [start, most]) },
    ],
    limit: { value: service.timeoutMs, word: `no answer after ${exactSpan(service.timeoutMs)}` },
    figures: [
      ['From, or endpoint', 'Attempts', 'Failed', 'Half within', 'Slowest'],
      ...bins.map(({ start, own }) => rowOf(time(start), own)),
      ...[...byEndpoint].map(([url, own]) => rowOf(url, own)),
      ...(byEndpoint.size > 1 ? [rowOf('All', answered)] : []),
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
  return areas({
    id: `balances-${currency}-${walletType}`,
    title: `${amountText(whole(actual), currency)} in the ${wallets[walletType]}, ${available} available`,
    note: `Balance after ${every === 1 ? 'each change' : `${count(drawn.length)} of ${count(steps.length)} changes`}, in ${currency}; times are UTC`,
    from: drawn[0]?.at ?? now.at,
    to,
    times: [...drawn.map(({ at }) => at), to],
    series: BUCKETS.flatMap(([look, bucket]) =>
      drawn.every((step) => step[bucket] === 0)
        ? []
        : [{ look, word: capital(bucket), values: [...drawn, now].map((step) => whole(step[bucket])) }],
    ),
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

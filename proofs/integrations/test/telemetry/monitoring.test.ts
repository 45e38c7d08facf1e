import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Sample, samplesOn } from './metrics-page.ts';
import { newObservedShop, type ObservedShop } from './observed-shop.ts';
import { evaluate, missingInResult, missingOnPage, type Scrapes } from './promql.ts';

const FOLDER = join(import.meta.dirname, '../../../../docs/monitoring');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const rules = parse(readFileSync(join(FOLDER, 'alerts.yaml'), 'utf8')) as Rules;
const alerts = rules.groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8')) as Dashboard;

/** Every expression of both files, with its location. */
const expressions: readonly (readonly [where: string, expression: string])[] = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** What Prometheus reads from the shop, over HTTP. */
async function scrape({ metricsUrl }: ObservedShop): Promise<readonly Sample[]> {
  const response = await fetch(metricsUrl);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  return samplesOn(await response.text());
}

async function livePage(): Promise<readonly Sample[]> {
  const shop = await newObservedShop();
  await shop.live();
  return scrape(shop);
}

function firing(scrapes: Scrapes): readonly string[] {
  return alerts.filter(({ expr }) => evaluate(expr, scrapes).length > 0).map(({ alert }) => alert);
}

test('every metric, label and value that the alerts and the dashboard name is on the page that Prometheus reads', async () => {
  const page = await livePage();
  expect(expressions.length).toBeGreaterThan(20);
  const missing = expressions.map(([where, expression]) => [where, missingOnPage(expression, page)]);
  expect(missing.filter(([, what]) => what?.length)).toEqual([]);
});

test('control: a metric, a label and a value of another name are missed, and what is not PromQL is refused', async () => {
  const page = await livePage();
  expect(missingOnPage('sum by (outcome) (rate(inbox_callbacks_total[5m])) > 0', page)).toEqual([]);
  expect(missingOnPage('sum by (outcome) (rate(inbox_callback_total[5m])) > 0', page)).toEqual([
    'metric inbox_callback_total',
  ]);
  expect(missingOnPage('sum by (result) (inbox_callbacks_total{state="new"})', page)).toEqual([
    'inbox_callbacks_total{state="new"}',
    'inbox_callbacks_total by result',
  ]);
  expect(missingOnPage('absent(inbox_transitions{state=~"settled|lost"})', page)).toEqual([
    'inbox_transitions{state="lost"}',
  ]);
  const renamed = page.map((one) => (one.name === 'inbox_overdue' ? { ...one, name: 'inbox_late' } : one));
  expect(expressions.flatMap(([, expression]) => missingOnPage(expression, renamed))).toContain(
    'metric inbox_overdue',
  );
  expect(() => missingOnPage('sum by (state (inbox_transitions)', page)).toThrow('not PromQL at');
  expect(() => samplesOn('inbox_overdue = 1')).toThrow('this is not a sample');
});

test('what an alert counts exists from the start, since an increase from nothing is not seen', async () => {
  const page = await scrape(await newObservedShop());
  for (const counter of [
    'inbox_callbacks_total{outcome=~"unavailable|full|spooled"}',
    'inbox_failures_total{kind=~"handler|store|spool"}',
    'inbox_contradictions_total',
  ])
    expect(missingOnPage(counter, page)).toEqual([]);
});

test('every label in the text of an alert and in a legend is a label of the result', () => {
  const texts = [
    ...alerts.map(({ expr, annotations }) => [expr, annotations.summary] as const),
    ...panels.flatMap(({ targets }) => targets.map((one) => [one.expr, one.legendFormat] as const)),
  ];
  expect(texts.flatMap(([expr, text]) => missingInResult(expr, text))).toEqual([]);
  // Control: labels that the aggregation drops, in both notations.
  expect(
    missingInResult('max by (state) (x{reason="a"})', '{{state}} {{reason}} {{ $labels.kind }}'),
  ).toEqual(['reason', 'kind']);
});

test('what a shop lives through fires the alerts about it, and no others', async () => {
  const shop = await newObservedShop();
  const before = await scrape(shop);
  expect(firing({ before, after: before })).toEqual([]);
  await shop.live();
  const after = await scrape(shop);
  expect(firing({ before, after })).toEqual(['PaymentsWaitForAPerson', 'PaymentsContradicted']);
  const contradicted = after.filter(({ name }) => name === 'inbox_contradictions_total');
  expect(contradicted.map(({ value }) => value)).toEqual([1]); // One of two settled payments.
});

/** For each alert, the sample that raises it, and its value; undefined if the sample is missing. */
const RAISED: Readonly<Record<string, readonly [sample: string, value: number | undefined]>> = {
  PaymentsWaitForAPerson: ['inbox_transitions dead', 1],
  PaymentsOverdue: ['inbox_overdue ', 1],
  PaymentsNotApplied: ['inbox_oldest_due_seconds ', 61],
  CallbacksSpooled: ['inbox_spooled ', 1],
  CallbacksNotKept: ['inbox_callbacks_total unavailable', 1],
  CallbacksRefused: ['payment_callback_duration_seconds_count refused', 22],
  PaymentHandlersFail: ['inbox_failures_total handler', 11],
  PaymentsContradicted: ['inbox_contradictions_total ', 1],
  InboxNotObserved: ['inbox_transitions settled', undefined],
};

test('each alert fires when its metric passes the threshold, and no other does', async () => {
  const shop = await newObservedShop();
  await shop.post('ORD-1', { internal_reference: 'another' }); // The first refusal starts its series.
  const before = await scrape(shop);
  const raise = ([sample, value]: (typeof RAISED)[string], by = 0): readonly Sample[] => {
    const [name, label] = sample.split(' ');
    const isMeant = (one: Sample): boolean =>
      one.name === name && (label === '' || Object.values(one.labels).includes(label ?? ''));
    expect(before.filter(isMeant)).toHaveLength(1);
    return before.flatMap((one) => {
      if (!isMeant(one)) return [one];
      return value === undefined ? [] : [{ ...one, value: value + by }];
    });
  };
  expect(Object.keys(RAISED)).toEqual(alerts.map(({ alert }) => alert));
  for (const [alert, raised] of Object.entries(RAISED)) {
    expect(firing({ before, after: raise(raised) })).toEqual([alert]);
    // Control: one less is the threshold itself.
    if (raised[1] !== undefined) expect(firing({ before, after: raise(raised, -1) })).toEqual([]);
  }
});

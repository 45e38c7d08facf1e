import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { missingOnPage } from './metrics-page.ts';
import { newObservedShop } from './observed-shop.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/monitoring');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** Every expression of both files, with where it is. */
function expressions(): [where: string, expression: string][] {
  const rules = parse(readFileSync(join(FOLDER, 'alerts.yaml'), 'utf8')) as Rules;
  const { panels } = JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8')) as Dashboard;
  return [
    ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }): [string, string] => [alert, expr])),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr])),
  ];
}

async function livePage(): Promise<string> {
  const { live, metricsUrl } = await newObservedShop();
  await live();
  return (await fetch(metricsUrl)).text();
}

test('every metric, label and value that the alerts and the dashboard name is on the page that Prometheus reads', async () => {
  const page = await livePage();
  expect(expressions().length).toBeGreaterThan(20);
  const missing = expressions().map(([where, expression]) => [where, missingOnPage(expression, page)]);
  expect(missing.filter(([, what]) => what?.length)).toEqual([]);
});

test('control: a metric, a label and a value of another name are missed', async () => {
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
  const renamed = page.replaceAll('inbox_overdue', 'inbox_late');
  expect(expressions().flatMap(([, expression]) => missingOnPage(expression, renamed))).toContain(
    'metric inbox_overdue',
  );
});

test('what an alert counts exists from the start, since an increase from nothing is not seen', async () => {
  const { metricsUrl } = await newObservedShop();
  const page = await (await fetch(metricsUrl)).text();
  for (const counter of [
    'inbox_callbacks_total{outcome=~"unavailable|full|spooled"}',
    'inbox_failures_total{kind=~"handler|store|spool"}',
    'inbox_contradictions_total',
  ])
    expect(missingOnPage(counter, page)).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newObservedShop } from './observed-shop.ts';

const FOLDER = join(import.meta.dirname, '../../../../docs/monitoring');
const [rules = '', dashboard = ''] = ['alerts.yaml', 'dashboard.json'].map((name) =>
  readFileSync(join(FOLDER, name), 'utf8'),
);

/** Every metric that a text names, and every value that it compares a label with. */
function namesIn(text: string): readonly string[] {
  const metrics = text.match(/\b(?:inbox|payment)_[a-z_]+\b/g) ?? [];
  const values = [...text.matchAll(/\{(\w+)=~?\\?"([\w|]+)\\?"\}/g)];
  const labels = values.flatMap(([, label, list = '']) => list.split('|').map((one) => `${label}="${one}"`));
  return [...new Set([...metrics, ...labels])];
}

test('every metric and value that the alerts and the dashboard name is on the page that Prometheus reads', async () => {
  const shop = await newObservedShop();
  await shop.live();
  const response = await fetch(shop.metricsUrl);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  const page = await response.text();
  const missing = (text: string): readonly string[] =>
    namesIn(text).filter((name) => !new RegExp(`(?<![a-z_])${name}(?![a-z_])`).test(page));
  for (const text of [rules, dashboard]) {
    expect(namesIn(text).length).toBeGreaterThan(5);
    expect(missing(text)).toEqual([]);
  }
  // Control: a metric and a value of another name.
  expect(missing('inbox_late{state=~"settled|lost"}')).toEqual(['inbox_late', 'state="lost"']);
});

test('what an alert counts exists from the start, since an increase from nothing is not seen', async () => {
  const page = await (await fetch((await newObservedShop()).metricsUrl)).text();
  for (const counter of [
    ...['unavailable', 'full', 'spooled'].map((outcome) => `inbox_callbacks_total{.*outcome="${outcome}"`),
    ...['handler', 'store', 'spool'].map((kind) => `inbox_failures_total{.*kind="${kind}"`),
    'inbox_contradictions_total',
  ])
    expect(page).toMatch(new RegExp(`^${counter}`, 'm'));
});

/** The charts of the documents, beside the figures that they draw. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUDGETS } from '../src/budget-results.ts';
import { charts, draw, figureOf, fileOf } from '../src/charts.ts';

const pageOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', `${name}.md`), 'utf8');

test.each(charts)(
  '$name is drawn from its figures, and its page has each of them: run `pnpm charts`',
  (chart) => {
    const page = pageOf(chart.page);
    expect(readFileSync(fileOf(chart), 'utf8')).toBe(draw(chart));
    expect(page).toContain(`(charts/${chart.name}.svg)`);
    const figures = chart.rows.filter(({ value }) => value !== undefined).map(figureOf);
    expect(figures.filter((figure) => !page.includes(figure))).toEqual([]);
  },
);

test('the page of the benchmarks has every budget', () => {
  const page = pageOf('benchmarks');
  const figures = Object.values(BUDGETS).flatMap(({ packages: _, importOverStripe, ...bytes }) => [
    String(importOverStripe),
    ...Object.values(bytes).map((one) => one.toLocaleString('en')),
  ]);
  expect(figures.length).toBeGreaterThan(20);
  expect(figures.filter((figure) => !page.includes(` ${figure} `))).toEqual([]);
});

test('control: a longer bar is longer, and words cannot become markup', () => {
  const [one = '', other = ''] = [1, 2].map((value) =>
    draw({ name: 'a', page: 'a', title: '<b>', note: '', rows: [{ label: 'a', value, target: 2 }] }),
  );
  const widths = [one, other].map((svg) => Number(/class="own" .* width="(\d+)"/.exec(svg)?.[1]));
  expect(widths).toEqual([205, 410]);
  expect(one).toContain('<title>&lt;b></title>');
});

import { expect, test } from 'vitest';
import { bars, bullets, plot, share, short, spark } from '../src/index.ts';

const DAY = 86_400_000;
const words = { id: 'c', title: 'UGX 4.2 M settled', note: 'UGX a day' };
const figures = [
  ['Day', 'Settled'],
  ['2026-11-27', 'UGX 4,200,000'],
];
/** The attributes of every mark of a look. */
const marks = (html: string, look: string): Record<string, string>[] =>
  [...html.matchAll(new RegExp(`<(?:rect|circle)[^>]*class="mark ${look}"([^>]*)>`, 'g'))].map(
    ([, all = '']) =>
      Object.fromEntries([...all.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  );

test('bars are as high as their values, on top of each other, and a small part is still seen', async () => {
  const series = [
    { look: 'good', word: 'Settled', values: [100, 0, 1000] },
    { look: 'bad', word: 'Waits', values: [50, 0, 0.001] },
  ] as const;
  const html = String(await bars({ ...words, starts: [0, DAY, 2 * DAY], series, figures }));
  const [low, high] = marks(html, 'good').map(({ height }) => Number(height));
  expect((high ?? 0) / (low ?? 1)).toBeCloseTo(10, 0);
  const [above, tiny] = marks(html, 'bad');
  expect(Number(above?.['y']) + Number(above?.['height'])).toBeCloseTo(
    Number(marks(html, 'good')[0]?.['y']),
    0,
  );
  expect(Number(tiny?.['height'])).toBeGreaterThan(1);
  // Not by colour alone, and in words.
  expect(above?.['fill']).toBe('url(#c-hatch)');
  expect(html).toContain('<title>1 Jan. Settled: 100, Waits: 50</title>');
  expect(html).toContain('Nothing</title>');
  expect(html).toContain('UGX 4,200,000');
});

test.each([
  ['days', DAY, 30, ['4 Jan', '11 Jan', '18 Jan', '25 Jan']],
  ['hours', DAY / 24, 48, ['1 Jan', '12:00', '2 Jan', '12:00']],
  ['five days', 5 * DAY, 7, ['1 Jan', '11 Jan', '16 Jan', '21 Jan']],
])('bars of %s have their times below them', async (_, step, count, times) => {
  const starts = Array.from({ length: count }, (_, index) => index * step);
  const series = [{ look: 'good', word: 'Settled', values: starts }] as const;
  const html = String(await bars({ ...words, starts, series, figures }));
  const below = [...html.matchAll(/<text[^>]* text-anchor="middle"[^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(below).toEqual(times);
});

test('dots on a logarithmic scale are above the limit when their value is', async () => {
  const dots = [20, 9000].map((value) => ({ at: value, value, look: 'bad', text: '' }) as const);
  const limit = { value: 5000, word: 'limit' };
  const html = String(await plot({ ...words, from: 0, to: 10_000, isLog: true, dots, limit, figures }));
  const [, y = ''] = /class="limit"[^>]*y1="([\d.]+)"/.exec(html) ?? [];
  const [below, above] = marks(html, 'bad').map(({ cy }) => Number(cy));
  expect([Number(below) > Number(y), Number(above) < Number(y)]).toEqual([true, true]);
});

test('what lies outside of its interval is marked, and what lies inside is not', async () => {
  const row = { name: 'UGX', least: 90, most: 100, text: '' };
  const drawn = (value: number) => bullets({ ...words, rows: [{ ...row, value }], legend: [], figures });
  const count = async (value: number): Promise<number> => marks(String(await drawn(value)), 'bad').length;
  expect([await count(95), await count(60), await count(130)]).toEqual([0, 1, 1]);
});

test('a share is never 0 or 100 % if it is neither, and large numbers are short', () => {
  expect([share(2, 100), share(1, 400), share(1, 1e6), share(999_999, 1e6), share(0, 0)]).toEqual([
    ...['2 %', '0.3 %', 'under 0.1 %', 'over 99.9 %', '0 %'],
  ]);
  expect([short(4_200_000), short(999)]).toEqual(['4.2\u00a0M', '999']);
  expect([spark([0, 1, 8]), spark([])]).toEqual([' ▁█', '']);
});

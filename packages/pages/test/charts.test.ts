import { expect, test } from 'vitest';
import { bars, durations, exactSpan, share, short, spark } from '../src/index.ts';

const DAY = 86_400_000;
/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
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
  ['five days', 5 * DAY, 7, ['1 Jan', '11 Jan', '21 Jan']],
])('bars of %s have their times below them', async (_, step, count, times) => {
  const starts = Array.from({ length: count }, (_, index) => index * step);
  const series = [{ look: 'good', word: 'Settled', values: starts }] as const;
  const html = String(await bars({ ...words, starts, series, figures }));
  const below = [...html.matchAll(/<text[^>]* text-anchor="middle"[^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(below).toEqual(times);
});

const HOUR = 3_600_000;
const numbersIn = (html: string, form: RegExp): number[] =>
  [...html.matchAll(form)].map(([, number]) => Number(number));

test('durations above the limit are above its line, and where there was nothing there is no line', async () => {
  const points = [0, 1, 2, 20, 21].map((hour) => [hour * HOUR, hour < 20 ? 20 : 9000] as const);
  const lines = [{ look: 'good', word: 'Half', points }] as const;
  const limit = { value: 5000, word: 'limit' };
  const all = { ...words, from: 0, to: 24 * HOUR, lines, everyMs: HOUR, limit, figures };
  const html = String(await durations(all));
  const [line = 0] = numbersIn(html, /class="limit"[^>]*y1="([\d.]+)"/g);
  const [below = 0, , , above = 0] = marks(html, 'good').map(({ cy }) => Number(cy));
  expect([below > line, above < line]).toEqual([true, true]);
  const [, path = ''] = /class="line good"[^>]* d="([^"]*)"/.exec(html) ?? [];
  expect(path.match(/M/g)).toHaveLength(2);
  expect(html).toContain('Half: 9 s</title>');
});

/** Durations in the words of a scale, as milliseconds. */
const PARTS = { ms: 1, s: 1000, min: 60_000, h: HOUR, d: DAY } as const;
const msOf = (text: string): number =>
  [...text.matchAll(/([\d.,]+) (ms|s|min|h|d)\b/g)].reduce(
    (sum, [, value = '', unit = 'ms']) =>
      sum + Number(value.replaceAll(',', '')) * PARTS[unit as keyof typeof PARTS],
    0,
  );

test('whatever the values, each word of a scale is where its value is, none lies over another, and all are inside', async () => {
  const random = seeded(20261129);
  const pick = (least: number, most: number): number => least * (most / least) ** random();
  for (let round = 0; round < 300; round += 1) {
    const hours = Math.ceil(pick(1, 2000));
    const from = Math.floor(pick(1, 2e12));
    const to = from + hours * HOUR;
    const points = Array.from({ length: 1 + Math.floor(pick(1, 40)) }, (_, index) => {
      const ms = from + Math.floor((index / 40) * (to - from));
      return [ms, pick(1, 2e9)] as const;
    });
    const lines = [{ look: 'good', word: 'x', points }] as const;
    const drawn = String(await durations({ ...words, from, to, lines, everyMs: HOUR, figures }));
    // Values of points and of lines of the scale are on one logarithmic scale.
    const [one, other] = marks(drawn, 'good').map(({ cy }, index) => [Number(cy), points[index]?.[1] ?? 1]);
    const [[y1 = 0, v1 = 1] = [], [y2 = 0, v2 = 1] = []] = [one, other ?? [0, 0]];
    const rules = [...drawn.matchAll(/<text[^>]* y="([\d.]+)" text-anchor="end">([^<]*)</g)];
    if (points.length > 1 && Math.abs(y1 - y2) > 30)
      for (const [, y = '', text = ''] of rules) {
        const value = v1 * (v2 / v1) ** ((Number(y) - 4 - y1) / (y2 - y1));
        expect(Math.abs(Math.log(value / msOf(text))), `${text} in round ${round}`).toBeLessThan(0.15);
      }
    const starts = Array.from({ length: Math.min(48, hours) }, (_, index) => from + index * HOUR);
    const values = starts.map(() => Math.floor(pick(1, 1e9)));
    const series = [{ look: 'good', word: 'x', values }] as const;
    const barred = String(await bars({ ...words, starts, series, figures }));
    const most = Math.max(...values);
    const tallest = Math.max(...marks(barred, 'good').map(({ height }) => Number(height)));
    for (const [, y = '', text = ''] of barred.matchAll(
      /<text[^>]* y="([\d.]+)" text-anchor="end">([^<]*)</g,
    )) {
      const value = ((146 - (Number(y) - 4)) / tallest) * most;
      const said = Number(text.replace(/[^\d.]/g, '')) * ({ K: 1e3, M: 1e6, B: 1e9 }[text.at(-1) ?? ''] ?? 1);
      expect(Math.abs(value - said) / most, `${text} in round ${round}`).toBeLessThan(0.01);
    }
    for (const html of [drawn, barred]) {
      const below = [...html.matchAll(/x="([\d.]+)"[^>]* text-anchor="middle">([^<]*)</g)];
      const boxes = below.map(([, x = '', text = '']) => [
        Number(x) - text.length * 4,
        Number(x) + text.length * 4,
      ]);
      expect(boxes.every(([left = 0, right = 0]) => left >= 0 && right <= 408)).toBe(true);
      expect(boxes.every(([left = 0], index) => left > (boxes[index - 1]?.[1] ?? -1))).toBe(true);
      const heights = numbersIn(html, /y="([\d.]+)" text-anchor="end"/g).toSorted((a, b) => a - b);
      expect(heights.every((y, index) => index === 0 || y - (heights[index - 1] ?? 0) >= 16)).toBe(true);
    }
  }
});

test('a duration has its largest unit and the next one', () => {
  expect([0.4, 250, 1040, 60_000, 100_000, 10_000_000, 273_600_000].map(exactSpan)).toEqual([
    ...['0 ms', '250 ms', '1.04 s', '1 min', '1 min 40 s', '2 h 47 min', '3 d 4 h'],
  ]);
});

test('a share is never 0 or 100 % if it is neither, and large numbers are short', () => {
  expect([share(2, 100), share(1, 400), share(1, 1e6), share(999_999, 1e6), share(0, 0)]).toEqual([
    ...['2 %', '0.3 %', 'under 0.1 %', 'over 99.9 %', '0 %'],
  ]);
  expect([short(4_200_000), short(999)]).toEqual(['4.2\u00a0M', '999']);
  expect([spark([0, 1, 8]), spark([])]).toEqual([' ▁█', '']);
});

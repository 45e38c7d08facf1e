import { expect, test } from 'vitest';
import { seededRandom } from '../src/history/seeded-random.ts';
import { cropAbove, croppedWelch, welch } from '../src/timing/welch.ts';
import { reportOf } from './support/run-program.ts';

test("Welch's t of two small samples is the one that another program computes", () => {
  // By the formula, from the means and variances of Python's statistics module.
  const one = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
  const other = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 20.4];
  expect(welch(one, other).t).toBeCloseTo(2.530291, 6);
  expect(welch(other, one).t).toBeCloseTo(-2.530291, 6);
  expect(welch([1, 2, 3], [1, 2, 3])).toMatchObject({ t: 0, difference: 0 });
});

/** Times like those of a timer: a floor, a tail, and now and then an interruption. */
function times(count: number, seed: number, later: number): number[] {
  const random = seededRandom(seed, 0);
  return Array.from({ length: count }, () => {
    const interruption = random.next() < 0.01 ? 100_000 * random.next() : 0;
    return 400 + later - 30 * Math.log(1 - random.next()) + interruption;
  });
}

test('in made-up times a difference of 2 ns is above 10, none is below 4.5, and interruptions hide it unless they are cropped', () => {
  const bound = cropAbove(times(20_000, 1, 0));
  const [one, same, later] = [times(200_000, 2, 0), times(200_000, 3, 0), times(200_000, 4, 2)];
  expect(Math.abs(croppedWelch(one, same, bound).t)).toBeLessThan(4.5);
  expect(croppedWelch(one, later, bound).t).toBeGreaterThan(10);
  expect(Math.abs(welch(one, later).t)).toBeLessThan(4.5);
});

test('a short timing run measures every contender and every control', () => {
  const report = reportOf('timing', '--short');
  expect(report.isShort).toBe(true);
  expect(report.results.map(({ name }) => name).join('\n')).toMatch(
    /node:crypto[\s\S]*portable[\s\S]*whole verification[\s\S]*control: ===[\s\S]*control: digit by digit[\s\S]*control: verification/,
  );
  for (const { name, value } of report.results) expect(Number.isFinite(value), name).toBe(true);
});

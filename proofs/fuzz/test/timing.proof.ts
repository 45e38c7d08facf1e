import { seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';
import { cropAbove, pairedT } from '../src/timing/paired-t.ts';
import { judgeTiming } from '../src/timing/timing.ts';

test('the t of pairs is that of their differences, whatever both of a pair share', () => {
  expect(pairedT([1, 2, 3, 4], [2, 4, 4, 6]).t).toBeCloseTo(1.5 / Math.sqrt(1 / 3 / 4), 12);
  expect(pairedT([901, 2, 503, 4], [902, 4, 504, 6]).t).toBeCloseTo(1.5 / Math.sqrt(1 / 3 / 4), 12);
});

/** Few inputs, so that those of one class may well have better places than those of the other. */
const INPUTS = 20;

/**
 * Times like those of a timer, in blocks: a floor, a tail and interruptions; a machine that slows down and recovers from block
 * to block; and for each input its own place in memory, which affects all its calls.
 */
function madeUp(seed: number, later: number): number {
  const random = seededRandom(seed, 0);
  const means: [number[], number[]] = [[], []];
  let load = 0;
  for (let block = 0; block < 200; block++) {
    load = 0.9 * load + 20 * random.next();
    const places = Array.from({ length: INPUTS }, () => 20 * random.next());
    const times = Float64Array.from({ length: 2000 }, (_, index) => {
      const interruption = random.next() < 0.01 ? 100_000 * random.next() : 0;
      const own = (places[index % INPUTS] ?? 0) + later * (index % 2);
      return 400 + load + own - 5 * Math.log(1 - random.next()) + interruption;
    });
    const bound = cropAbove(times);
    for (const index of [0, 1] as const) {
      const kept = [...times].filter((time, at) => at % 2 === index && time <= bound);
      means[index].push(kept.reduce((sum, time) => sum + time, 0) / kept.length);
    }
  }
  return pairedT(...means).t;
}

test('the t over blocks sees a difference of 5 ns, and none where there is none, although samples resemble each other', () => {
  expect([4, 8, 11, 15].map((seed) => madeUp(seed, 0)).filter((t) => Math.abs(t) >= 4.5)).toEqual([]);
  for (const later of [5, -5]) expect(Math.abs(madeUp(1, later))).toBeGreaterThan(10);
});

const target = (...all: number[]) => ({ name: 'a comparison', isControl: false, runs: all.map(run) });
const control = (...all: number[]) => ({ name: 'a control', isControl: true, runs: all.map(run) });
const run = (t: number) => ({ t, difference: 1, error: 1 });

test.each([
  ['one run of five with a leak', [target(4, 4, -4.5, 4, 4), control(11)], false, true],
  ['two of five with a leak', [target(-4.5, 4, -4.5, 4, 4), control(11)], false, false],
  ['a control that one run does not see', [target(-4.5), control(11, 11, 10, 11)], true, null],
  ['a control that measured nothing', [target(4), control(Number.NaN)], true, null],
])('%s: the run is void or judged', (_, measured, isVoid, met) => {
  const judged = judgeTiming(measured);
  expect(judged.isVoid).toBe(isVoid);
  expect(judged.results.find(({ name }) => name === 'a comparison: runs below 4.5')?.met ?? null).toBe(met);
  expect(judged.results.every((result) => result.met)).toBe(met === true);
});

test('a short timing run measures every contender and every control', () => {
  const report = reportOf('timing', '--short');
  expect(report.isShort).toBe(true);
  expect(report.tables[0]?.rows.map(([name]) => name).join('\n')).toMatch(
    /node:crypto[\s\S]*portable[\s\S]*whole verification[\s\S]*control: ===[\s\S]*control: digit by digit[\s\S]*control: verification/,
  );
  for (const { name, value } of report.results) expect(Number.isFinite(value), name).toBe(true);
});

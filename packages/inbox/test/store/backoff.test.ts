import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoff } from '../../src/options.ts';

const SETTINGS = { attempts: 40, firstDelayMs: 1000, longestDelayMs: 3_600_000 };

it('doubles up to the longest delay', () => {
  const delays = [1, 2, 3, 12, 13, 40, 10_000].map((attempt) =>
    backoff(attempt, { retry: SETTINGS, random: () => 1 }),
  );
  expect(delays).toEqual([1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000, 3_600_000]);
});

it('is between half and all of the delay, and 40 attempts take 14 to 28 hours', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, random) => {
        const most = backoff(attempt, { retry: SETTINGS, random: () => 1 });
        const delay = backoff(attempt, { retry: SETTINGS, random: () => random });
        expect(delay).toBeGreaterThanOrEqual(most / 2);
        expect(delay).toBeLessThanOrEqual(most);
      },
    ),
  );
  const hours = (random: number): number => {
    let sum = 0;
    for (let attempt = 1; attempt < 40; attempt += 1)
      sum += backoff(attempt, { retry: SETTINGS, random: () => random });
    return sum / 3_600_000;
  };
  expect([Math.round(hours(0)), Math.round(hours(1))]).toEqual([14, 28]);
});

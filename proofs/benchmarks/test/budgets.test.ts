/** The judgement of budgets; the measuring is done by `pnpm budgets` in CI. */
import { expect, test } from 'vitest';
import { BUDGETS, budgetResults, type Footprint } from '../src/budget-results.ts';

const light: Omit<Footprint, 'name'> = { installedBytes: 1, packages: 1, importMs: 1, bytes: 1, gzipped: 1 };
const PEERS = ['stripe', 'standardwebhooks', '@octokit/webhooks'];
const footprints = (own: Partial<Footprint>, theirs: Partial<Footprint> = {}): Footprint[] => [
  ...Object.keys(BUDGETS).map((name) => ({ ...light, ...own, name })),
  ...PEERS.map((name) => ({ ...light, importMs: 100, ...theirs, name })),
];

test('control: what is heavier than its budget is reported, measure by measure', () => {
  expect(budgetResults(footprints({}), BUDGETS).filter(({ met }) => !met)).toEqual([]);
  const heavy = budgetResults(
    footprints({ installedBytes: 1e9, packages: 9, importMs: 99, bytes: 1e9, gzipped: 1e9 }),
    BUDGETS,
  );
  expect(heavy.map(({ met }) => met)).not.toContain(true);
  expect(heavy).toHaveLength(5 * Object.keys(BUDGETS).length);
});

test('control: an entry that was not measured is an error, not a budget that is kept', () => {
  expect(() => budgetResults([], BUDGETS)).toThrow('stripe was not measured');
});

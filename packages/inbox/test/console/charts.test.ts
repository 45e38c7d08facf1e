import { expect, test } from 'vitest';
import { historyCharts } from '../../src/console/pages/charts.ts';
import { type InboxHistory, MAX_OPEN, MAX_OUTCOMES } from '../../src/operator/history.ts';
import { DAY_MS } from '../support/shop.ts';

const HOUR_MS = 3_600_000;
const to = new Date('2026-11-28T12:30:00Z');
const ago = (ms: number): Date => new Date(to.getTime() - ms);
const many = <T>(count: number, each: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => each(index));

const HELD = { state: 'held', transaction_type: 'COLLECTION', currency: 'UGX' } as const;
const HISTORY: InboxHistory = {
  from: new Date('2026-10-30T00:00:00Z'),
  to,
  settled: [
    {
      day: new Date('2026-11-28T00:00:00Z'),
      currency: 'UGX',
      transaction_type: 'COLLECTION',
      count: 3,
      amount: '900.5',
    },
  ],
  open: [{ ...HELD, since: ago(40 * DAY_MS), amount: '100' }],
  outcomes: [
    { at: ago(2 * HOUR_MS), state: 'paid', needs: undefined },
    { at: ago(HOUR_MS), state: 'failed', needs: undefined },
  ],
  delays: [{ at: ago(HOUR_MS), seconds: 2 }],
};
const drawn = async (more: Partial<InboxHistory> = {}): Promise<string> =>
  String(await historyCharts({ ...HISTORY, ...more }));

test('the titles of charts are what their figures say', async () => {
  const html = await drawn();
  // What waits since before the first day is on it, so that nothing that waits is left out.
  expect(html).toContain('UGX 900.5 credited in 30 days, 10 % of the money waits');
  expect(html).toContain('<td data-label="Credited">UGX 900.5</td>');
  expect(html).toContain('50 % of 2 payments failed in 48 hours, none of them waits for a person');
  expect(await drawn({ settled: [], open: [], outcomes: [], delays: [] })).toBe('');
});

test('a payout is drawn in a chart of its own, and is added neither to what came in nor to what waits of that', async () => {
  const [day] = HISTORY.settled;
  const settled = [
    ...HISTORY.settled,
    ...(day ? [{ ...day, transaction_type: 'PAYOUT', count: 1, amount: '40' }] : []),
  ];
  const open = [...HISTORY.open, { ...HELD, transaction_type: 'PAYOUT', since: ago(DAY_MS), amount: '60' }];
  const html = await drawn({ settled, open });
  expect(html).toContain('>UGX 900.5 credited in 30 days, 10 % of the money waits<');
  expect(html).toContain('>PAYOUT: UGX 40 credited in 30 days, 60 % of the money waits<');
});

test('a paid payment whose second report waits is one payment, and needs a person', async () => {
  const outcomes = [...HISTORY.outcomes, { at: ago(0), state: 'paid', needs: 'already_settled' }] as const;
  expect(await drawn({ outcomes })).toContain(
    '33 % of 3 payments failed in 48 hours, 33 % of them wait for a person',
  );
});

test('a share is of hours of which everything is known, and says “at least” where not all that waits is', async () => {
  const outcomes = many(2 * MAX_OUTCOMES, (index) => ({
    at: ago((2 * MAX_OUTCOMES - index) * 4000),
    state: index % 2 === 0 ? ('paid' as const) : ('failed' as const),
    needs: undefined,
  }));
  // They begin at 09:10, so the first whole hour is that of 10:00.
  expect(await drawn({ outcomes, open: [] })).toContain(
    '50 % of 2,250 payments failed in 3 hours, none of them waits',
  );
  const held = { ...HELD, since: ago(HOUR_MS), amount: '1' };
  const html = await drawn({ open: many(MAX_OPEN, () => held) });
  expect(html).toContain('at least 36 % of the money waits');
  expect(html).toContain('Only 500 of the waiting payments');
});

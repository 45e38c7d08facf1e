/** Rows of a statement, and how it is compared. */
import type { StatementOptions, StatementReport, StatementRow } from '../../src/index.ts';
import { DAY_MS, NOTE } from './shop.ts';

/** The row of `paid(reference, 500)`. */
export const row = (merchant_reference: string, more: Partial<StatementRow> = {}): StatementRow => ({
  merchant_reference,
  internal_reference: `INT-${merchant_reference}`,
  transaction_type: 'COLLECTION',
  transaction_status: 'COMPLETED',
  currency: 'UGX',
  amount: '500',
  ...more,
});
const PERIOD = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS) };
export const DRY: StatementOptions = { ...NOTE, ...PERIOD };
export const APPLY: StatementOptions = { ...DRY, dryRun: false };
/** The verdicts with their counts. */
export const countsOf = ({ counts }: StatementReport): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

import { csvLine } from '@payment-service/pages';
import { toAmount } from '../state/money.ts';
import type { TransactionRecord } from '../state/records.ts';

const HEADER = ['Date', 'Reference', 'Internal reference', 'Type', 'Status', 'Currency', 'Amount', 'Charge'];

/**
 * The decided transactions as CSV (RFC 4180), the oldest first: what a merchant downloads at the end of a month. Simulated, as its
 * columns are: what a statement of the service looks like is not shown.
 */
export function statementOf(transactions: readonly TransactionRecord[]): string {
  const rows = transactions.flatMap((one) => {
    if (one.decidedAt === null) return [];
    const { merchantReference, internalReference, transactionType, status, currency } = one;
    const money = [one.amount, one.charge].map((minor) => String(toAmount(minor, currency)));
    const date = new Date(one.decidedAt).toISOString();
    return [[date, merchantReference, internalReference, transactionType, status, currency, ...money]];
  });
  return [HEADER, ...rows].map(csvLine).join('');
}

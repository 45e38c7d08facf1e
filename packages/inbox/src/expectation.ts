import {
  ConfigurationError,
  canonicalAmount,
  InvalidStateError,
  type SignedFields,
} from '@payment-service/core';
import type { Comparison } from './evaluation.ts';
import { isStorableCurrency, referenceKey } from './intake-record.ts';
import { fromHex, optionalHex, type Row, textOf } from './session.ts';

/** What the merchant itself knows that a payment must be. */
export interface Expectation {
  /** The reference under which the transaction is started. */
  readonly merchant_reference: string;
  /** The signed transaction type that settles it. Default `'COLLECTION'`. */
  readonly transaction_type?: SignedFields['transaction_type'] | undefined;
  /** Currency code, compared letter by letter. */
  readonly currency: string;
  /** Whole units of the currency: decimal text ("1999.90"), bigint, or a number of at most 15 significant digits. */
  readonly amount: string | number | bigint;
  /** Unsettled after this moment, it is `overdue()`. */
  readonly deadline?: Date | undefined;
  /** Which of a callback's two amounts must equal it; as in `confirmAmount()`. Default `'both'`. */
  readonly compare?: Comparison | undefined;
}

/** A checked expectation, as it is stored. */
export interface StoredExpectation {
  readonly referenceKey: Uint8Array;
  readonly merchantReference: string;
  readonly currency: string;
  readonly amount: string;
  readonly compare: Comparison;
  readonly deadlineAt: number | null;
}

/** @throws {ConfigurationError} that names the field, never its value. */
export function checkExpectation(expectation: Expectation, account: string): StoredExpectation {
  const { merchant_reference, currency, amount, deadline, compare = 'both' } = expectation;
  const { transaction_type = 'COLLECTION' } = expectation;
  if (typeof merchant_reference !== 'string' || merchant_reference === '') {
    throw new ConfigurationError(
      'merchant_reference',
      'The merchant_reference of an expectation must be a text.',
    );
  }
  if (!merchant_reference.isWellFormed() || merchant_reference.includes('\0')) {
    throw new ConfigurationError(
      'merchant_reference',
      'A merchant_reference must be Unicode text without NUL.',
    );
  }
  if (typeof transaction_type !== 'string' || transaction_type === '') {
    throw new ConfigurationError(
      'transaction_type',
      "transaction_type must be a signed transaction type, such as 'COLLECTION', or be left out.",
    );
  }
  if (!isStorableCurrency(currency)) {
    throw new ConfigurationError('currency', 'The expected currency must be a currency code, such as "UGX".');
  }
  if (compare !== 'both' && compare !== 'request' && compare !== 'transaction') {
    throw new ConfigurationError(
      'compare',
      "compare must be 'both', 'request' or 'transaction', or be left out.",
    );
  }
  if (deadline !== undefined && !(deadline instanceof Date && Number.isFinite(deadline.getTime()))) {
    throw new ConfigurationError('deadline', 'deadline must be a Date, or be left out.');
  }
  return {
    referenceKey: fromHex(referenceKey(merchant_reference, transaction_type, account)),
    merchantReference: merchant_reference,
    currency,
    // Twice: the canonical string is read again at every comparison, and that of "10e9999" could not be.
    amount: canonicalAmount(canonicalAmount(amount)),
    compare,
    deadlineAt: deadline?.getTime() ?? null,
  };
}

/** `settled`: it is settled already, with the same values. */
export type ExpectOutcome = 'kept' | 'settled' | 'settled_otherwise';

/** @throws {InvalidStateError} when it is settled already, with other values. */
export function refuseOtherValues(outcome: ExpectOutcome): void {
  if (outcome !== 'settled_otherwise') return;
  throw new InvalidStateError(
    'This reference is settled already, with another currency, amount or comparison. Give a new payment a reference of ' +
      'its own.',
  );
}

/** The expectation's part of a joined row. */
export function expectationIn(row: Row):
  | {
      readonly currency: string;
      readonly amount: string;
      readonly compare: Comparison;
      readonly settledBy: string | undefined;
    }
  | undefined {
  if (row['expected_currency'] === null) return undefined;
  return {
    currency: textOf(row, 'expected_currency'),
    amount: textOf(row, 'expected_amount'),
    compare: textOf(row, 'compare') as Comparison,
    settledBy: optionalHex(row, 'settled_by'),
  };
}

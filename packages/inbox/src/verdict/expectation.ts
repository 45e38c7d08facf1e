import { ConfigurationError, InvalidStateError, type SignedFields, StaleError } from '@payment-service/core';
import {
  checkOptions,
  checkReference,
  exactAmount,
  type OptionRule,
  type OptionRules,
  RECORD,
} from '@payment-service/core/internal';
import { type ActionNote, NOTE_RULES } from '../action-note.ts';
import { isStorableCurrency, referenceKey } from '../delivery/stored-delivery.ts';
import { DATE, NAME } from '../option-rules.ts';
import type { Settings } from '../options.ts';
import type { Statements } from '../store/statements.ts';
import { numberOf } from '../store/store.ts';
import { findArchived } from './archived.ts';
import {
  type Comparison,
  type ExpectedMoney,
  isMore,
  type KnownExpectation,
  type KnownOrder,
  type Settled,
} from './evaluate.ts';
import { restate, storedStateIn } from './restate.ts';
import { COMPARISONS, expectationIn } from './stored-values.ts';

/** What a payment must be, as the merchant itself knows it. */
export interface Expectation {
  /** The reference under which the transaction is started. A new one for every attempt and every amount. */
  readonly merchant_reference: string;
  /** The signed transaction type that settles it. @default 'COLLECTION' */
  readonly transaction_type?: SignedFields['transaction_type'] | undefined;
  /** Currency code, compared character by character. */
  readonly currency: string;
  /** Above zero, in the unit of the callback's amounts: a decimal string ("1999.90"), bigint, or number of at most 15 digits. */
  readonly amount: string | number | bigint;
  /** From then on, an open payment is overdue. */
  readonly deadline?: Date | undefined;
  /**
   * The debt that it is an attempt or an instalment of. What would be paid beyond its total, in this currency, waits for a person.
   *
   * @default a debt of its own
   */
  readonly order?: Order | undefined;
  /** Which of a callback's two amounts must equal it, as in `confirmAmount()`. @default 'both' */
  readonly compare?: Comparison | undefined;
}

/** A debt of a customer, such as an order or an invoice. */
export interface Order {
  /** Your own number for it. */
  readonly id: string;
  /** In the currency of its payments, as `amount`. */
  readonly total: string | number | bigint;
}

/** A checked expectation, as it is stored. */
export interface StoredExpectation extends ExpectedMoney {
  readonly referenceKey: string;
  /** As JSON text. */
  readonly transactionType: string;
  readonly account: string;
  readonly merchantReference: string;
  readonly deadlineAt: number | null;
  readonly order: KnownOrder | undefined;
}

export const COMPARISON: OptionRule = [
  (value) => COMPARISONS.some((each) => each === value),
  "'both', 'request' or 'transaction'",
];
const RULES: OptionRules<Expectation> = {
  merchant_reference: undefined,
  transaction_type: NAME,
  currency: [isStorableCurrency, 'a currency code, such as "UGX"', true],
  amount: undefined,
  deadline: DATE,
  order: RECORD,
  compare: COMPARISON,
};
const ORDER: OptionRules<Order> = {
  id: [
    (id) => typeof id === 'string' && id !== '' && id.length <= 200 && !id.includes('\0'),
    'a string of 1 to 200 characters, without NUL',
    true,
  ],
  total: undefined,
};

/** Who replaces what is expected, and why. */
export interface Replacement extends ActionNote {
  /** The money that they saw: it replaces only this. @default whatever is expected */
  readonly currency?: string | undefined;
  readonly amount?: string | undefined;
}

const REPLACEMENT: OptionRules<Replacement> = { ...NOTE_RULES, currency: undefined, amount: undefined };

/** @throws {ConfigurationError} Names what is missing. */
export function checkReplacement(replace: Replacement | undefined): Replacement | undefined {
  if (replace === undefined) return undefined;
  checkOptions('expect()', replace, REPLACEMENT, 'replace.');
  const { amount } = replace;
  return amount === undefined ? replace : { ...replace, amount: exactAmount('expect()', amount) };
}

/** @throws {ConfigurationError} Names the field, never its value. */
export function checkExpectation(
  expectation: Expectation,
  { account, colonIn }: Pick<Settings, 'account' | 'colonIn'>,
): StoredExpectation {
  checkOptions('expect()', expectation, RULES);
  const { merchant_reference, transaction_type = 'COLLECTION', currency, compare = 'both' } = expectation;
  checkReference('expect()', merchant_reference, { colonIn });
  if (merchant_reference.includes('\0')) {
    throw new ConfigurationError('merchant_reference', 'A merchant_reference must not contain NUL.');
  }
  // Twice: the canonical string is parsed again at every comparison, which would fail for that of "10e9999".
  const amount = exactAmount('expect()', exactAmount('expect()', expectation.amount));
  if (amount === '0' || amount.startsWith('-')) {
    throw new ConfigurationError('amount', 'The expected amount must be above zero.');
  }
  return {
    referenceKey: referenceKey(merchant_reference, account),
    transactionType: JSON.stringify(transaction_type),
    account,
    merchantReference: merchant_reference,
    currency,
    amount,
    compare,
    deadlineAt: expectation.deadline?.getTime() ?? null,
    order: checkOrder(expectation.order, amount),
  };
}

function checkOrder(order: Order | undefined, amount: string): KnownOrder | undefined {
  if (order === undefined) return undefined;
  checkOptions('expect()', order, ORDER, 'order.');
  const total = exactAmount('expect()', exactAmount('expect()', order.total));
  if (isMore([amount], total))
    throw new ConfigurationError(
      'order.total',
      'The amount is more than the total of its order, so it would never be credited. Is the total for the whole order, in the same unit?',
    );
  return { id: order.id, total };
}

/**
 * A currency code that is not upper case, such as `ugx`, is probably a slip: callbacks are compared with it character by
 * character, and those of the protocol are upper case (protocol §2.2). Another service could use others, so it is not an error.
 */
export function currencyWarning(currency: string): string | undefined {
  if (!/^[a-z]{3}$/i.test(currency) || currency === currency.toUpperCase()) return undefined;
  const meant = currency.toUpperCase();
  return `expect() was called with the currency "${currency}". Currencies are compared character by character, so a callback in ${meant} does not match it. Pass "${meant}" if you mean that.`;
}

/**
 * Keeps an expectation and wakes the transitions that wait for it. A transition that is parked before the commit is rechecked: a
 * second later, or in about the time that it has waited.
 *
 * @throws {InvalidStateError} If the reference already has another amount, unless `replace` is set and it is not settled.
 * @throws {StaleError} If `replace` names money that is not what is expected now.
 */
export async function keepExpectation<Tx>(
  statements: Statements<Tx>,
  {
    expectation,
    replace,
  }: { readonly expectation: StoredExpectation; readonly replace: Replacement | undefined },
  tx: Tx,
): Promise<void> {
  const { referenceKey: key, transactionType, account, merchantReference, deadlineAt } = expectation;
  const { currency, amount, compare } = expectation;
  const reference = JSON.stringify(merchantReference);
  const { id = null, total = null } = expectation.order ?? {};
  const money = [currency, amount, compare] as const;
  const values = [key, transactionType, account, reference, ...money, deadlineAt, id, total];
  const [row] = await statements.run('add_expectation', values, tx);
  const known =
    row === undefined ? await archivedExpectation(statements, expectation, tx) : expectationIn(row);
  if (known?.isCanceled) {
    throw new InvalidStateError(
      'This payment was canceled, so nothing is expected under its reference any more. Give the new payment its own reference.',
    );
  }
  if (known !== undefined && id !== null && (known.order?.id !== id || known.order.total !== total)) {
    throw new InvalidStateError(
      'This reference is expected for another order, or its order has another total. Give the new payment its own reference.',
    );
  }
  const isSame = known?.currency === currency && known.amount === amount && known.compare === compare;
  if (known !== undefined && !isSame) {
    const { settledBy, replaced, currency: oldCurrency, amount: oldAmount, compare: oldCompare } = known;
    const earlier = { currency: oldCurrency, amount: oldAmount, compare: oldCompare };
    if (settledBy !== undefined) {
      throw new InvalidStateError(
        'This reference is settled with another currency, amount or comparison. Give the new payment its own reference.',
      );
    }
    if (replace === undefined) {
      throw new InvalidStateError(
        'This reference is expected with another currency, amount or comparison, which the customer may have paid already. ' +
          'Give the new payment its own reference, or say who replaces it and why, with replace: { by, note }.',
      );
    }
    const { by, note } = replace;
    const seen = { currency: earlier.currency, amount: earlier.amount, ...defined(replace) };
    if (seen.currency !== earlier.currency || seen.amount !== earlier.amount) {
      throw new StaleError(
        'This reference is expected with another amount or currency than the one to be replaced. Nothing was changed. Read it ' +
          'again, then decide.',
      );
    }
    const at = row === undefined ? 0 : numberOf(row, 'now');
    const kept = replaced.map((each) => ({ ...each, at: each.at.getTime() }));
    const history = JSON.stringify([...kept, { ...earlier, by, note, at }]);
    const changes = [key, transactionType, currency, amount, compare, history, deadlineAt];
    await statements.run('replace_expectation', changes, tx);
  }
  if (known?.settledBy === undefined)
    await statements.run('wake_for_expectation', [key, transactionType], tx);
  if (row !== undefined && storedStateIn(row) === 'unexpected') {
    const type: unknown = JSON.parse(transactionType);
    const payment = { merchant_reference: merchantReference, transaction_type: String(type) };
    await restate(statements, { ...payment, account }, tx);
  }
}

const defined = ({ currency, amount }: Replacement): Partial<Settled> => ({
  ...(currency !== undefined && { currency }),
  ...(amount !== undefined && { amount }),
});

async function archivedExpectation<Tx>(
  statements: Statements<Tx>,
  { account, merchantReference, transactionType }: StoredExpectation,
  tx: Tx,
): Promise<KnownExpectation | undefined> {
  const keys = { merchant_reference: merchantReference };
  const found = await findArchived(statements, { keys, account }, tx);
  return found.find(
    ({ signed, expectation }) =>
      expectation !== undefined && JSON.stringify(signed.transaction_type) === transactionType,
  )?.expectation;
}

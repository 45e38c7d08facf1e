import { ConfigurationError, type SignedFields, type UnsignedFields } from '@payment-service/core';
import { checkOptions, type OptionRules } from '@payment-service/core/internal';
import { NAME } from '../../option-rules.ts';
import type { Settled } from '../verdict/evaluate.ts';

/** What a handler gets. */
export interface HandledTransition<Tx> {
  /** The transaction that settles the transition, as your library knows it: effects in it happen exactly once. */
  readonly tx: Tx;
  /** The five strings that the signature proves, or that a statement says which you had settle it. */
  readonly signed: SignedFields;
  /** The merchant's own expectation: credit this, and nothing else. Undefined unless the transaction is completed. */
  readonly settled: Settled | undefined;
  /** The other fields of the body that was confirmed, for a ledger: the charge, the provider. Proved by nothing. */
  readonly claimed: UnsignedFields;
  /**
   * The id of the transition of another internal_reference that has paid the same merchant_reference: this one must not un-pay
   * it. Undefined unless a handler asked for it with `paidByAnother`, or a person reopened the transition.
   */
  readonly paidBy: string | undefined;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** 64 hexadecimal digits, the same for every attempt: a key for what is done outside the database. */
  readonly transitionId: string;
}

/** What a handler gets of a completed transaction. */
export interface CompletedTransition<Tx> extends HandledTransition<Tx> {
  readonly settled: Settled;
}

/** Which transitions a handler takes. The one that names more wins. */
export interface HandlerSelector {
  /** A signed transaction_type. @default every type */
  readonly type?: string | undefined;
  /** A signed transaction_status, or `'*'` for every status that no other handler names. @default 'COMPLETED' */
  readonly status?: string | undefined;
  /**
   * Takes only what arrives after another transaction has paid the same merchant_reference, such as a late FAILED. Without such
   * a handler it becomes `conflict: paid_by_another` and waits for a person. The handler must not un-pay the order. @default false
   */
  readonly paidByAnother?: boolean | undefined;
}

const RULES: OptionRules<HandlerSelector> = {
  type: NAME,
  status: NAME,
  paidByAnother: [(value) => typeof value === 'boolean', 'true or false'],
};

export type Handler<Tx> = (transition: HandledTransition<Tx>) => unknown;

/** The handlers of an inbox, by what they take. */
export type Handlers<Tx> = Map<string, Handler<Tx>>;

/** @throws {ConfigurationError} For what is no function or no selector, and when two handlers take the same. */
export function addHandler<Tx>(handlers: Handlers<Tx>, run: unknown, selector: HandlerSelector = {}): void {
  if (typeof run !== 'function') throw new ConfigurationError('handler', 'handle() takes a function.');
  checkOptions('handle()', selector, RULES);
  const { type = '*', status = 'COMPLETED', paidByAnother = false } = selector;
  if (paidByAnother && status === 'COMPLETED') {
    throw new ConfigurationError(
      'paidByAnother',
      'A second COMPLETED for a paid reference is always a conflict for a person. Give paidByAnother a status of its own.',
    );
  }
  const key = keyOf(type, status, paidByAnother);
  if (handlers.has(key)) {
    throw new ConfigurationError('handler', 'There is a handler for this type and status already.');
  }
  handlers.set(key, (transition) => Reflect.apply(run, undefined, [transition]));
}

/** By type and status, then by status, then by type, then the wildcard. */
export function findHandler<Tx>(
  handlers: Handlers<Tx>,
  { transaction_type: type, transaction_status: status }: SignedFields,
  paidByAnother: boolean,
): Handler<Tx> | undefined {
  const find = (...keys: [string, string]) => handlers.get(keyOf(...keys, paidByAnother));
  return find(type, status) ?? find('*', status) ?? find(type, '*') ?? find('*', '*');
}

function keyOf(type: string, status: string, paidByAnother: boolean): string {
  return JSON.stringify([type, status, paidByAnother]);
}

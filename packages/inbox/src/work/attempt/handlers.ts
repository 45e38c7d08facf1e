import { ConfigurationError, type SignedFields, type UnsignedFields } from '@payment-service/core';
import { checkOptions, type OptionRules, refuseArgument } from '@payment-service/core/internal';
import { NAME } from '../../option-rules.ts';
import type { Settled } from '../verdict/evaluate.ts';

/** What a handler gets. */
export interface HandledTransition<Tx> {
  /** Your library's transaction, which also settles the transition: effects in it happen exactly once. */
  readonly tx: Tx;
  /** The five strings that the signature proves, or those of the statement row that settled it. */
  readonly signed: SignedFields;
  /** The merchant's own expectation: credit only this. Undefined unless the transaction is completed. */
  readonly settled: Settled | undefined;
  /**
   * The other fields of the confirmed body, for a ledger: the charge, the provider. Nothing proves them, whether their content
   * was encrypted or not.
   */
  readonly claimed: UnsignedFields;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** 64 hexadecimal digits, the same for every attempt: an idempotency key for effects outside the database. */
  readonly transitionId: string;
}

/** What a handler gets for a completed transaction. */
export interface CompletedTransition<Tx> extends HandledTransition<Tx> {
  readonly settled: Settled;
}

/** Which transitions a handler accepts. The handler that names more wins. */
export interface HandlerSelector {
  /** A signed transaction_type. @default every type */
  readonly type?: string | undefined;
  /** A signed transaction_status, or `'*'` for every status that no other handler names, unless it may be about money. @default 'COMPLETED' */
  readonly status?: string | undefined;
}

const RULES: OptionRules<HandlerSelector> = {
  type: NAME,
  status: NAME,
};

export type Handler<Tx> = (transition: HandledTransition<Tx>) => unknown;

/** The handlers of an inbox, by what they accept. */
export type Handlers<Tx> = Map<string, Handler<Tx>>;

/** @throws {ConfigurationError} If it is not a function with a valid selector, or another handler accepts the same. */
export function addHandler<Tx>(handlers: Handlers<Tx>, run: unknown, selector: HandlerSelector = {}): void {
  if (typeof run !== 'function') refuseArgument('handle()', 'handler', 'a function', run);
  checkOptions('handle()', selector, RULES);
  const { type = '*', status = 'COMPLETED' } = selector;
  const key = keyOf(type, status);
  if (handlers.has(key)) {
    throw new ConfigurationError('handler', 'handle() already has a handler for this type and status.');
  }
  handlers.set(key, (transition) => Reflect.apply(run, undefined, [transition]));
}

/** A handler, and whether its selector names the status. */
interface Found<Tx> {
  readonly run: Handler<Tx>;
  readonly isNamed: boolean;
}

/** By type and status, then by status, then by type, then the wildcard. */
export function findHandler<Tx>(
  handlers: Handlers<Tx>,
  { transaction_type: type, transaction_status: status }: SignedFields,
): Found<Tx> | undefined {
  const find = (...keys: [string, string]) => handlers.get(keyOf(...keys));
  const named = find(type, status) ?? find('*', status);
  const run = named ?? find(type, '*') ?? find('*', '*');
  return run && { run, isNamed: named !== undefined };
}

function keyOf(type: string, status: string): string {
  return JSON.stringify([type, status]);
}

import { ConfigurationError, type SignedFields, type UnsignedFields } from '@payment-service/core';
import { checkOptions, type OptionRules } from '@payment-service/core/receive';
import { NAME } from '../options.ts';
import type { Settled } from './evaluate.ts';

/** What a handler gets. */
export interface HandledTransition<Tx> {
  /** The transaction that settles the transition, as your library knows it: effects in it happen exactly once. */
  readonly tx: Tx;
  /** The five strings that the signature proves. */
  readonly signed: SignedFields;
  /** The merchant's own expectation: credit this, and nothing else. Undefined unless the transaction is completed. */
  readonly settled: Settled | undefined;
  /** The other fields of the body that was confirmed, for a ledger: the charge, the provider. Proved by nothing. */
  readonly claimed: UnsignedFields;
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
}

const RULES: OptionRules<HandlerSelector> = { type: NAME, status: NAME };

export type Handler<Tx> = (transition: HandledTransition<Tx>) => unknown;

/** The handlers of an inbox, by what they take. */
export type Handlers<Tx> = Map<string, Handler<Tx>>;

/** @throws {ConfigurationError} For what is no function or no selector, and when two handlers take the same. */
export function addHandler<Tx>(handlers: Handlers<Tx>, run: unknown, selector: HandlerSelector = {}): void {
  if (typeof run !== 'function') throw new ConfigurationError('handler', 'handle() takes a function.');
  checkOptions('handle()', selector, RULES);
  const { type = '*', status = 'COMPLETED' } = selector;
  const key = keyOf(type, status);
  if (handlers.has(key)) {
    throw new ConfigurationError('handler', 'There is a handler for this type and status already.');
  }
  handlers.set(key, (transition) => Reflect.apply(run, undefined, [transition]));
}

/** By type and status, then by status, then by type, then the wildcard. */
export function findHandler<Tx>(
  handlers: Handlers<Tx>,
  { transaction_type: type, transaction_status: status }: SignedFields,
): Handler<Tx> | undefined {
  const ofStatus = handlers.get(keyOf(type, status)) ?? handlers.get(keyOf('*', status));
  return ofStatus ?? handlers.get(keyOf(type, '*')) ?? handlers.get(keyOf('*', '*'));
}

function keyOf(type: string, status: string): string {
  return JSON.stringify([type, status]);
}

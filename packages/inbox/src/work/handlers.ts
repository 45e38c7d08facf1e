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
  /**
   * The merchant's own expectation, which a body has confirmed: credit this, and nothing else. Undefined for every other
   * status than a completed transaction.
   */
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

/** As a method: a handler of completed transactions is only called with `settled`, which the evaluation sees to. */
interface Handler<Tx> {
  run(transition: HandledTransition<Tx>): unknown;
}

/** The handlers of an inbox, by what they take. */
export class Handlers<Tx> {
  readonly #handlers = new Map<string, Handler<Tx>>();

  get isEmpty(): boolean {
    return this.#handlers.size === 0;
  }

  /** @throws {ConfigurationError} For what is no function or no selector, and when two handlers take the same. */
  add(run: unknown, selector: HandlerSelector = {}): void {
    if (typeof run !== 'function') throw new ConfigurationError('handler', 'handle() takes a function.');
    checkOptions('handle()', selector, RULES);
    const { type = '*', status = 'COMPLETED' } = selector;
    if (this.#handlers.has(keyOf(type, status))) {
      throw new ConfigurationError('handler', 'There is a handler for this type and status already.');
    }
    this.#handlers.set(keyOf(type, status), {
      run: (transition) => Reflect.apply(run, undefined, [transition]),
    });
  }

  /**
   * The handler of a transition: by type and status, then by status, then by type, then the wildcard. COMPLETED under an
   * event that is not one of `completedEvents` is no payment, and no handler is asked to tell them apart.
   */
  find(
    { transaction_type, transaction_status }: SignedFields,
    isCompleted: boolean,
  ): Handler<Tx> | undefined {
    if (transaction_status === 'COMPLETED' && !isCompleted) return undefined;
    const keys = [
      keyOf(transaction_type, transaction_status),
      keyOf('*', transaction_status),
      keyOf(transaction_type, '*'),
      keyOf('*', '*'),
    ];
    return keys.map((key) => this.#handlers.get(key)).find((handler) => handler !== undefined);
  }
}

function keyOf(type: string, status: string): string {
  return JSON.stringify([type, status]);
}

const MAX_ERROR_LENGTH = 500;

/** For the person who looks at the transition. NUL is no text to PostgreSQL. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replaceAll('\0', '\uFFFD').slice(0, MAX_ERROR_LENGTH).toWellFormed();
}

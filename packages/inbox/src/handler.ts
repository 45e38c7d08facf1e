import type { SignedFields } from '@payment-service/core';
import type { Settled } from './evaluation.ts';
import { runBody } from './transaction-body.ts';
import { TransactionGuard } from './transaction-guard.ts';

interface HandlerInput<Tx> {
  /** The transaction that settles the transition: effects in it happen exactly once. */
  readonly tx: Tx;
  /** The five strings that the signature proves. */
  readonly signed: SignedFields;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** 64 hexadecimal digits, the same for every attempt: a key for what is done outside the database. */
  readonly transitionId: string;
}

/** What a handler gets of a completed transaction. */
export interface CompletedTransition<Tx> extends HandlerInput<Tx> {
  /** The merchant's own expectation, which a body has confirmed. Credit this, and nothing else. */
  readonly settled: Settled;
}

/** What a handler of several statuses gets. */
export interface HandledTransition<Tx> extends HandlerInput<Tx> {
  /** There for a completed transaction, undefined for every other status. */
  readonly settled: Settled | undefined;
}

export type HandlerResult = { readonly ok: true } | { readonly ok: false; readonly error: string };

const LONGEST_ERROR = 500;

/** Runs a handler once, for at most `timeoutMs`. Its transaction ends with it, whatever is still running. */
export async function runHandler<Tx>(
  handler: (transition: HandledTransition<Tx>) => unknown,
  input: Omit<HandledTransition<Tx>, 'tx'>,
  {
    transaction,
    timeoutMs,
  }: {
    readonly transaction: (guard: TransactionGuard) => Tx;
    readonly timeoutMs: number;
  },
): Promise<HandlerResult> {
  const guard = new TransactionGuard();
  const tx = transaction(guard);
  try {
    await runBody(() => handler(Object.freeze({ ...input, tx })), { guard, timeoutMs, who: 'The handler' });
    return { ok: true };
  } catch (error) {
    return { ok: false, error: errorText(error) };
  }
}

/** For the person who looks at the transition. NUL is no text to PostgreSQL. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replaceAll('\0', '\uFFFD').slice(0, LONGEST_ERROR).toWellFormed();
}

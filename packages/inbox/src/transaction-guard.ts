import { ConfigurationError } from '@payment-service/core';
import { refuseControlStatement } from './control-statement.ts';
import type { Dialect } from './sql-pieces.ts';
import { Turn } from './turn.ts';

/**
 * Keeps the merchant's code inside the transaction that it was given, one statement after the other, and out of it
 * afterwards. The code may start several statements at once, and may forget to wait for one.
 */
export class TransactionGuard {
  readonly #turn = new Turn();
  readonly #unsettled = new Map<number, Promise<unknown>>();
  #count = 0;
  #isOver = false;
  #isAbandoned = false;
  #failure: Error | undefined;

  /** Whether no further statement may be started. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs a statement when those before it have run.
   *
   * @throws {ConfigurationError} for a statement that may not run now, or not at all.
   */
  run<T>(text: unknown, dialect: Dialect, statement: () => Promise<T>): Promise<T> {
    try {
      this.#check(text, dialect);
    } catch (error) {
      return Promise.reject(error);
    }
    this.#count += 1;
    const result = this.#inTurn(this.#count, statement);
    this.#unsettled.set(this.#count, result);
    return result;
  }

  /** The transaction has ended by itself: nothing runs any more, and `finish()` throws the error. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /**
   * The code has ended; what it started and did not wait for still belongs to the transaction.
   *
   * @throws the error of such a statement, which nobody else would see.
   */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#unsettled.values());
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The code has failed: what waits for its turn is not run, and how it ends is of no interest. */
  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
    for (const statement of this.#unsettled.values()) statement.catch(() => undefined);
  }

  /** Resolves when no statement runs. */
  idle(): Promise<void> {
    return this.#turn.during(async () => undefined);
  }

  #inTurn<T>(number: number, statement: () => Promise<T>): Promise<T> {
    return this.#turn.during(async () => {
      try {
        if (this.#isAbandoned) throw transactionOver();
        if (this.#failure !== undefined) throw this.#failure;
        return await statement();
      } finally {
        this.#unsettled.delete(number);
      }
    });
  }

  #check(text: unknown, dialect: Dialect): void {
    if (typeof text !== 'string') {
      throw new ConfigurationError('text', 'tx.query() takes the text of a statement, and then its values.');
    }
    if (this.#isOver) throw transactionOver();
    refuseControlStatement(text, dialect);
  }
}

function transactionOver(): ConfigurationError {
  return new ConfigurationError(
    'tx',
    'This transaction is over. Wait for every statement before the handler, or the body of transaction(), returns.',
  );
}

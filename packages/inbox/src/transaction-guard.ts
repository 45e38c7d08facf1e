import { ConfigurationError } from '@payment-service/core';
import { refuseControlStatement } from './control-statement.ts';
import { observed } from './observed.ts';
import type { Dialect } from './sql-pieces.ts';
import { Turn } from './turn.ts';

interface Started {
  /** Whether the code listens to what becomes of the statement. */
  isWaitedFor: boolean;
}

interface Failure {
  readonly error: unknown;
  readonly statement: Started;
  /** The code had ended before. */
  readonly isLate: boolean;
}

/**
 * Keeps the merchant's code inside the transaction that it was given, one statement after the other, and out of it
 * afterwards. The code may start several statements at once, and may forget to wait for one.
 */
export class TransactionGuard {
  readonly #turn = new Turn();
  readonly #unsettled = new Set<Promise<unknown>>();
  readonly #failures: Failure[] = [];
  #isOver = false;
  #isAbandoned = false;
  #end: Error | undefined;

  /** Whether no further statement may be started. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs a statement when those before it have run. After one that failed and that nobody waits for, it fails with the
   * same error.
   *
   * @throws {ConfigurationError} for a statement that may not run now, or not at all.
   */
  run<T>(text: unknown, dialect: Dialect, statement: () => Promise<T>): Promise<T> {
    // No finish() would throw this one: it must not be lost where nobody waits for it.
    if (this.#isOver) return Promise.reject(transactionOver());
    const started: Started = { isWaitedFor: false };
    const result = this.#inTurn(started, () => {
      refuseText(text, dialect);
      return statement();
    });
    this.#unsettled.add(result);
    const forget = (): void => void this.#unsettled.delete(result);
    result.then(forget, forget);
    return observed(result, () => {
      started.isWaitedFor = true;
    });
  }

  /** The transaction has ended by itself: nothing runs any more, and `finish()` throws the error. */
  fail(error: Error): void {
    this.#end ??= error;
  }

  /**
   * The code has ended; what it started and did not wait for still belongs to the transaction.
   *
   * @throws the first error of such a statement, which nobody else would see.
   */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#unsettled);
    this.#throwFailure();
  }

  /** The code has failed: what waits for its turn is not run, and how it ends is of no interest. */
  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
  }

  /** Resolves when no statement runs. */
  idle(): Promise<void> {
    return this.#turn.during(async () => undefined);
  }

  #inTurn<T>(started: Started, run: () => Promise<T>): Promise<T> {
    return this.#turn.during(async () => {
      try {
        if (this.#isAbandoned) throw transactionOver();
        this.#throwFailure();
        return await run();
      } catch (error) {
        this.#failures.push({ error, statement: started, isLate: this.#isOver });
        throw error;
      }
    });
  }

  #throwFailure(): void {
    if (this.#end !== undefined) throw this.#end;
    const unseen = this.#failures.find(({ statement, isLate }) => isLate || !statement.isWaitedFor);
    if (unseen !== undefined) throw unseen.error;
  }
}

function refuseText(text: unknown, dialect: Dialect): void {
  if (typeof text !== 'string') {
    throw new ConfigurationError('text', 'tx.query() takes the text of a statement, and then its values.');
  }
  refuseControlStatement(text, dialect);
}

function transactionOver(): ConfigurationError {
  return new ConfigurationError(
    'tx',
    'This transaction is over. Wait for every statement before the handler, or the body of transaction(), returns.',
  );
}

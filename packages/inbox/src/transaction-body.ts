import type { TransactionGuard } from './transaction-guard.ts';
import { transactionScope } from './transaction-scope.ts';
import { within } from './within.ts';

export interface BodyOptions {
  readonly guard: TransactionGuard;
  readonly timeoutMs: number;
  /** The beginning of the sentence about a body that does not end. */
  readonly who: string;
}

/**
 * Runs the merchant's code inside a transaction, for at most `timeoutMs`. The guard ends with it, whatever is still
 * running; to commit or to roll back is the caller's.
 *
 * @throws what the code throws; the error of a statement that it did not wait for; TimedOut.
 */
export async function runBody<T>(
  body: () => T | Promise<T>,
  { guard, timeoutMs, who }: BodyOptions,
): Promise<T> {
  const run = async (): Promise<T> => {
    const result = await body();
    await guard.finish();
    return result;
  };
  try {
    return await within(
      timeoutMs,
      transactionScope.run(guard, run),
      `${who} did not end within handlerTimeoutMs (${timeoutMs} ms).`,
    );
  } catch (error) {
    guard.abandon();
    throw error;
  }
}

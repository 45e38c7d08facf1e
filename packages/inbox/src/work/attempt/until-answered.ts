import { backoff, type Settings, STORE_RETRY } from '../../options.ts';
import { failureCode } from '../../reporting/events.ts';
import type { Statements } from '../../store/statements.ts';
import type { Row, SqlValue } from '../../store/store.ts';
import { pause, within } from '../../time.ts';

interface Waiting {
  readonly settings: Settings;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
}

/** Retries until the database answers, so that an outage does not count as a crash. */
export function runUntilAnswered<Tx>(
  name: string,
  values: readonly SqlValue[],
  context: Waiting & { readonly statements: Statements<Tx> },
): Promise<readonly Row[]> {
  return untilAnswered(context, () =>
    within(context.settings.storeTimeoutMs, context.statements.run(name, values)),
  );
}

/** The same for a transaction, which has its own time limit. */
export async function untilAnswered(
  context: Waiting,
  run: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await run();
    } catch (lost) {
      if (context.signal.aborted && failures > 1) return [];
      await waitForStore(lost, failures, context);
    }
  }
}

/** Reports that the store is unavailable, and waits: longer after every failure in a row. */
export async function waitForStore(
  lost: unknown,
  failures: number,
  { settings, signal }: Waiting,
): Promise<void> {
  const retryInMs = backoff(failures, { ...settings, retry: STORE_RETRY });
  settings.emit({ name: 'store.unavailable', failure: failureCode(lost), retryInMs });
  await pause(retryInMs, signal);
}

import { type Exchange, explainOutcome, type Outcome } from '@payment-service/core/explain';
import type { DeliveryAttempt, DeliveryRecord, TransactionRecord } from '../state/records.ts';
import { callbackData } from './callback-data.ts';
import { readCallback } from './composition.ts';
import type { Context } from './unit-of-work.ts';

/** The answer to a request, as recorded. */
type Recorded = Pick<DeliveryAttempt, 'status' | 'response' | 'error' | 'error_code' | 'ms'>;

/** The outcome of a request: its likely cause and fix, from what was recorded on the wire. */
export function explainExchange(
  request: Exchange['request'],
  { status, response, error, error_code, ms }: Recorded,
  { signingKey, now, knownPaths }: { signingKey: string; now: number; knownPaths?: readonly string[] },
): Outcome {
  const { headers = [], body } = response ?? {};
  return explainOutcome(
    {
      request,
      ...(status === null ? {} : { response: { status, headers, body } }),
      error: error === null || error_code === null ? (error ?? undefined) : `${error_code}: ${error}`,
      durationMs: ms ?? undefined,
      knownPaths,
    },
    { signingKey },
    { now: () => now },
  );
}

/** Records are never changed, so the outcome of an attempt is computed once. */
const known = new WeakMap<DeliveryAttempt, Outcome>();

/** The outcome of an attempt. A near miss is compared with the path of the sandbox's own callback URL. */
export function outcomeOf(
  { store, account: { signingKey } }: Context,
  { url, body, signing, transactionId }: DeliveryRecord,
  attempt: DeliveryAttempt,
): Outcome {
  const before = known.get(attempt);
  if (before !== undefined) return before;
  // The key tells whether the signature is bad.
  const forgedMoney = forgedMoneyIn(body, store.get('transaction', transactionId));
  const isForged = forgedMoney ?? (signing.offsetSeconds === 0 ? undefined : 'timestamp');
  const request = { method: 'POST', url, headers: attempt.sent?.headers ?? [], body, isForged } as const;
  const own = store.get('settings', 'settings')?.callback_url ?? null;
  const knownPaths = ['/payments/callbacks', ...(own === null ? [] : [new URL(own).pathname])];
  const outcome = explainExchange(request, attempt, { signingKey, now: attempt.at, knownPaths });
  known.set(attempt, outcome);
  return outcome;
}

/** What a body claims about money that its transaction does not, whatever change caused it. */
function forgedMoneyIn(
  body: string,
  transaction: TransactionRecord | undefined,
): 'amount' | 'currency' | undefined {
  const claimed = readCallback(body)?.payload;
  if (transaction === undefined || claimed === undefined) return undefined;
  const genuine = callbackData(transaction).payload;
  if (claimed['transaction_amount'] !== genuine.transaction_amount) return 'amount';
  return claimed['transaction_currency'] === genuine.transaction_currency ? undefined : 'currency';
}

import type { Misbehaviour, RetryRules } from '../deliveries/misbehaviour.ts';
import type { TransactionRecord } from '../state/records.ts';
import type { Service } from './service.ts';
import { type SandboxTransaction, viewTransaction } from './views.ts';

/** What a started collection answers. */
export interface StartedCollection {
  readonly transaction: SandboxTransaction;
  /** Where the customer pays or declines; null when nothing is left to decide there. */
  readonly payment_page_url: string | null;
  /** The signed address that the customer's browser goes back to, once it is decided. */
  readonly redirect_location: string | null;
}

/** The answers under /sandbox that hold addresses of the sandbox itself. */
export interface Answers {
  started(transaction: TransactionRecord): StartedCollection;
  clock(): { now: string; advanced_seconds: number };
  settings(): {
    callback_url: string | null;
    redirect_url: string | null;
    misbehave: Misbehaviour;
    retry: Partial<RetryRules>;
  };
}

export function createAnswers(service: Service, origin: string): Answers {
  return {
    started: (transaction) => ({
      transaction: viewTransaction(transaction),
      payment_page_url:
        transaction.mode === 'page' ? `${origin}/sandbox/pay/${transaction.internalReference}` : null,
      redirect_location: service.redirectOf(transaction) ?? null,
    }),
    clock: () => ({
      now: new Date(service.now()).toISOString(),
      advanced_seconds: service.settings().clockOffset / 1000,
    }),
    settings: () => {
      const { callbackUrl, redirectUrl, orderUrl, inboxUrl, misbehave, retry } = service.settings();
      const addresses = { callback_url: callbackUrl, redirect_url: redirectUrl };
      return { ...addresses, order_url: orderUrl, inbox_url: inboxUrl, misbehave, retry };
    },
  };
}

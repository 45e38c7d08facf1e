import { runHook } from '@payment-service/core/internal';
import { failureStack } from './failure-text.ts';

/** What a problem is about, for `onError`. None contains a reference, an amount or a body. */
export type InboxProblem =
  /** An attempt failed: the handler threw, took too long, or its transaction could not be committed. */
  | {
      readonly kind: 'attempt_failed';
      readonly transitionId: string;
      /** The number of the attempt, from 1. */
      readonly attempt: number;
      /** It runs again after `delayMs`, or is `dead` and waits for an operator. */
      readonly state: 'retrying' | 'dead';
      /** Why it is dead. */
      readonly reason: 'attempts_used_up' | 'transaction_ended' | undefined;
      /** In milliseconds; undefined when it is dead. */
      readonly delayMs: number | undefined;
      /** A retry that failed with the same message as the attempt before it: not the first, and not the last. */
      readonly isRepeated: boolean;
    }
  /**
   * A problem of the whole inbox, which the message of the error describes: callbacks are in the spool, or all of them have
   * left it; a transition is due and no worker runs; a worker cannot use the database, or cannot listen; a newer version has
   * changed the tables; the content of a body cannot be sealed or opened; `expect()` got a currency code in lower case; a handler
   * changed nothing in its transaction; a type, a status or an event is probably misspelt; other users of the machine can use a
   * file with bodies; callbacks in the spool wait for a route that verifies them, or were refused; the spool's file was moved,
   * removed or replaced, or is damaged; the database's file was moved, removed or replaced; a route answers before the inbox has
   * kept its callback. Reported once, and again if it recurs.
   */
  | {
      readonly kind:
        | 'callbacks_spooled'
        | 'callbacks_stored'
        | 'no_worker'
        | 'worker_waits'
        | 'worker_polls'
        | 'tables_changed'
        | 'body_not_sealed'
        | 'body_not_opened'
        | 'currency_case'
        | 'handler_changed_nothing'
        | 'unlikely_name'
        | 'files_readable'
        | 'spool_waits'
        | 'spool_refused'
        | 'spool_lost'
        | 'database_file_changed'
        | 'answered_early';
      readonly isRepeated: false;
    };

type AttemptFailed = Extract<InboxProblem, { kind: 'attempt_failed' }>;
type Warning = Exclude<InboxProblem['kind'], 'attempt_failed'>;

/** The message says everything: a stack would add nothing. */
class InboxWarning extends Error {
  override readonly name = 'InboxWarning';
}

export function warn(report: Report, kind: Warning, message: string): void {
  report(new InboxWarning(message), { kind, isRepeated: false });
}

/** Reports to the person who can act. Its own errors change nothing. */
export type Report = (error: unknown, problem: InboxProblem) => void;

/** The hook receives every problem; without one, the console receives those that are not repetitions. */
export function reporter(onError: ((error: unknown, problem: InboxProblem) => unknown) | undefined): Report {
  const hook = onError ?? print;
  return (error, problem) => runHook(() => hook(error, Object.freeze(problem)), console.error);
}

function print(error: unknown, problem: InboxProblem): void {
  if (problem.kind !== 'attempt_failed') console.warn(`payment-service-inbox: ${Object(error).message}`);
  else if (!problem.isRepeated) console.error(`${wordsOf(problem)}\n${failureStack(error)}`);
}

function wordsOf({ transitionId, attempt, reason, delayMs }: AttemptFailed): string {
  const what = `payment-service-inbox: attempt ${attempt} of transition ${transitionId} failed. `;
  if (reason === 'transaction_ended') {
    return (
      `${what}It is dead: transaction_ended, and waits for an operator because its effects may be committed. Check your own ` +
      'tables and fix the handler. Then close it if the effects are there, or retry it if they are not.'
    );
  }
  if (reason === 'attempts_used_up')
    return `${what}It is dead: attempts_used_up, and waits for an operator. Fix the cause, then retry it.`;
  const seconds = Math.ceil((delayMs ?? 0) / 1000);
  return (
    `${what}Its transaction was rolled back, and it runs again in ${seconds} s. The same message is printed again only if ` +
    'the last attempt fails with it.'
  );
}

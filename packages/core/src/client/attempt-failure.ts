import { ApiError, ConnectionError, InvalidResponseError, type PaymentServiceError } from '../errors.ts';
import type { Operation } from './client-options.ts';
import type { Scrubber } from './scrubber.ts';

interface FailureDetails {
  readonly code: 'api_error' | 'invalid_response' | 'connection_failed';
  /** What happened, as a sentence without its full stop. */
  readonly what: string;
  /** What to do about it. */
  readonly advice: string;
  readonly status?: number;
  readonly serviceMessage?: string | undefined;
  /** As it came; only `toError()` hands it on, scrubbed. */
  readonly bodyText?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const LONGEST_CITATION = 200;

/** RFC 9110 and 6585: answers that may differ next time. All three calls are GETs, so a repetition is safe. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function isTransientStatus(status: number | undefined): boolean {
  return status !== undefined && TRANSIENT.has(status);
}

/**
 * One attempt that did not succeed. It stays inside the client: it holds text as it came, and whether it becomes the
 * caller's error is not known before the last attempt.
 */
export class AttemptFailure extends Error {
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(details.what);
    this.details = details;
  }

  get isTransient(): boolean {
    const { code, status } = this.details;
    return code === 'connection_failed' || (code === 'api_error' && isTransientStatus(status));
  }

  /**
   * The public error. This is the one place where text of the service, or of `fetch`, gets out, and it scrubs all of it.
   *
   * @param why why there is no further attempt, where that is not plain from the failure itself.
   */
  toError(
    operation: Operation,
    attempts: number,
    why: string | undefined,
    scrubber: Scrubber,
  ): PaymentServiceError {
    const { code, what, advice, status = 0, serviceMessage, bodyText, cause } = this.details;
    const said = serviceMessage === undefined ? undefined : scrubber.snippet(serviceMessage);
    const count = attempts === 1 ? '' : ` (${attempts} attempts)`;
    const message = scrubber.text(`${operation}: ${what}${cite(said)}${count}. ${why ?? advice}`);
    const scrubbed = cause === undefined ? {} : { cause: scrubber.cause(cause) };
    if (code === 'connection_failed') return new ConnectionError(message, scrubbed);
    const snippet = bodyText === undefined ? {} : { snippet: scrubber.snippet(bodyText) };
    if (code === 'invalid_response')
      return new InvalidResponseError(message, { status, ...snippet, ...scrubbed });
    return new ApiError(message, { status, attempts, serviceMessage: said, ...snippet, ...scrubbed });
  }
}

function cite(said: string | undefined): string {
  if (said === undefined || said === '') return '';
  return `: "${said.length > LONGEST_CITATION ? `${said.slice(0, LONGEST_CITATION)}…` : said}"`;
}

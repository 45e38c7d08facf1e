import { ApiError, ConnectionError, InvalidResponseError, type PaymentServiceError } from '../errors.ts';
import type { Operation } from './client.ts';
import type { Scrubber } from './scrubber.ts';

interface FailureDetails {
  readonly code: 'api_error' | 'invalid_response' | 'connection_failed';
  /** What happened, as a sentence without its full stop. */
  readonly what: string;
  /** What to do about it. */
  readonly advice: string;
  readonly status?: number | undefined;
  readonly serviceMessage?: string | undefined;
  /** Unchanged; only `toError()` passes it on, scrubbed. */
  readonly bodyText?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const MAX_CITATION = 200;

/** RFC 9110 and 6585: statuses that may differ next time. All three calls are GETs, so a retry is safe. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function isTransientStatus(status: number | undefined): boolean {
  return status !== undefined && TRANSIENT.has(status);
}

/**
 * One attempt that did not succeed. It stays inside the client: it holds unscrubbed text, and only the last attempt
 * decides whether it becomes the caller's error.
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
   * The public error. Text of the service or of `fetch` leaves the client here and nowhere else, and all of it is
   * scrubbed.
   *
   * @param why why there is no further attempt, where the failure itself does not say so.
   */
  toError(operation: Operation, attempts: number, scrubber: Scrubber, why?: string): PaymentServiceError {
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

/** A 200 that the contract does not allow. */
export function invalid(what: string, advice: string, bodyText?: string): AttemptFailure {
  return new AttemptFailure({ code: 'invalid_response', what, advice, status: 200, bodyText });
}

/** An error that the checks did not expect, for example from a fetch that returns no Response. */
export function unreadable(cause: unknown): AttemptFailure {
  const [what, advice] = ['the response could not be read', 'Check the fetch option; cause has the details.'];
  return new AttemptFailure({ code: 'invalid_response', what, advice, cause });
}

function cite(said: string | undefined): string {
  if (said === undefined || said === '') return '';
  return `: "${said.length > MAX_CITATION ? `${said.slice(0, MAX_CITATION)}…` : said}"`;
}

import {
  ApiError,
  ConnectionError,
  InvalidResponseError,
  type PaymentServiceError,
  type Sent,
} from '../../errors.ts';
import type { Scrubber } from '../settings/scrubber.ts';

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
  /** Whether the service may have received the request. */
  readonly sent: Sent;
  readonly cause?: unknown;
}

/** RFC 9110 and 6585: statuses that may differ next time. */
export const TRANSIENT: ReadonlySet<number | undefined> = new Set([408, 429, 500, 502, 503, 504]);

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
    return code === 'connection_failed' || (code === 'api_error' && TRANSIENT.has(status));
  }

  /**
   * The public error. Text of the service or of `fetch` leaves the client here and nowhere else, and all of it is
   * scrubbed.
   *
   * @param label The call, at the beginning of the message.
   * @param sent Of all attempts.
   * @param why why there is no further attempt, where the failure itself does not say so.
   */
  toError(
    label: string,
    attempts: number,
    sent: Sent,
    scrubber: Scrubber,
    why?: string,
  ): PaymentServiceError {
    const { code, what, advice, status = 0, bodyText, cause } = this.details;
    const serviceMessage = scrubber.snippet(this.details.serviceMessage);
    const cited = serviceMessage ? `: "${serviceMessage}"` : '';
    const count = attempts === 1 ? '' : ` (${attempts} attempts)`;
    const message = `${label}: ${scrubber.text(what)}${cited}${count}. ${why ?? advice}`;
    const options = cause === undefined ? {} : { cause: scrubber.cause(cause) };
    if (code === 'connection_failed') return new ConnectionError(message, { ...options, sent });
    const details = { ...options, status, snippet: scrubber.snippet(bodyText) };
    if (code === 'invalid_response') return new InvalidResponseError(message, details);
    return new ApiError(message, { ...details, attempts, serviceMessage, sent });
  }
}

/** A success that the contract does not allow. */
export function invalid(what: string, advice: string, more?: Partial<FailureDetails>): AttemptFailure {
  return new AttemptFailure({
    code: 'invalid_response',
    what,
    advice,
    status: 200,
    sent: 'unknown',
    ...more,
  });
}

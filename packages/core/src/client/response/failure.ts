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
  /** Unchanged. Only `toError()` passes it through, scrubbed. */
  readonly bodyText?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Whether the service may have received the request. */
  readonly sent: Sent;
  readonly cause?: unknown;
}

/** RFC 9110 and 6585: statuses that may differ next time. */
export const TRANSIENT: ReadonlySet<number | undefined> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * One attempt that failed. It stays inside the client, since it contains unscrubbed text. Only the failure of the last attempt
 * becomes the caller's error.
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
   * Makes the public error. Text from the service or `fetch` leaves the client only here, and all of it is scrubbed.
   *
   * @param label The call, which begins the message.
   * @param sent The result of all attempts.
   * @param why Why there is no further attempt, if the failure itself does not say so.
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

/** A successful response that breaks the contract. */
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

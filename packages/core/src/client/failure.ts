import { ApiError, ConnectionError, InvalidResponseError, type PaymentServiceError } from '../errors.ts';
import type { Operation } from './client.ts';

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

/** RFC 9110 and 6585: statuses that may differ next time. All three calls are GETs, so a retry is safe. */
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
   * @param why why there is no further attempt, where the failure itself does not say so.
   */
  toError(operation: Operation, attempts: number, scrubber: Scrubber, why?: string): PaymentServiceError {
    const { code, what, advice, status = 0, bodyText, cause } = this.details;
    const serviceMessage = scrubber.snippet(this.details.serviceMessage);
    const cited = serviceMessage ? `: "${serviceMessage}"` : '';
    const count = attempts === 1 ? '' : ` (${attempts} attempts)`;
    const message = scrubber.text(`${operation}: ${what}${cited}${count}. ${why ?? advice}`);
    const options = cause === undefined ? {} : { cause: scrubber.cause(cause) };
    if (code === 'connection_failed') return new ConnectionError(message, options);
    const details = { ...options, status, snippet: scrubber.snippet(bodyText) };
    if (code === 'invalid_response') return new InvalidResponseError(message, details);
    return new ApiError(message, { ...details, attempts, serviceMessage });
  }
}

/** A 200 that the contract does not allow. */
export function invalid(what: string, advice: string, more?: Partial<FailureDetails>): AttemptFailure {
  return new AttemptFailure({ code: 'invalid_response', what, advice, status: 200, ...more });
}

/** Removes the client's keys from everything that an error shows. */
export interface Scrubber {
  /** The text with `[redacted]` in place of every key, in any letter case and as a URL, JSON or HTML spells it. */
  text(text: string): string;
  /** The same on one line, cut to 512 characters. */
  snippet(text: string | undefined): string | undefined;
  /** A copy of a thrown value, for `cause`: name, message, code and stack, down the chain, and nothing else. */
  cause(thrown: unknown): unknown;
}

const MAX_SNIPPET = 512;
const MAX_CAUSE_DEPTH = 5;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

export function createScrubber(keys: readonly string[]): Scrubber {
  // Longest first: one spelling may be the beginning of another.
  const literals = keys
    .flatMap(spellings)
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const anyKey = new RegExp(literals.join('|'), 'gi');
  const scrub = (text: string): string => text.replace(anyKey, '[redacted]');
  return {
    text: scrub,
    // Scrubbed before it is cut: half a key at the end would not be recognised.
    snippet: (text) => text && scrub(text).replace(CONTROL, ' ').slice(0, MAX_SNIPPET).toWellFormed(),
    cause: (thrown) => copyCause(thrown, scrub, MAX_CAUSE_DEPTH),
  };
}

/** A key as URLs, forms, JSON (also that of PHP and Go) and HTML spell it. */
function spellings(key: string): string[] {
  const json = JSON.stringify(key).slice(1, -1);
  const hex = (char: string): string => char.charCodeAt(0).toString(16);
  return [
    key,
    encodeURIComponent(key),
    new URLSearchParams([['', key]]).toString().slice(1),
    json,
    json.replaceAll('/', '\\/'),
    json.replace(/[<>&]/g, (char) => `\\u00${hex(char)}`),
    key.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  ];
}

function copyCause(thrown: unknown, scrub: (text: string) => string, depth: number): unknown {
  if (typeof thrown === 'string') return scrub(thrown);
  // Other values could hold a request with its headers.
  if (!(thrown instanceof Error) || depth === 0) return undefined;
  const inner = copyCause(thrown.cause, scrub, depth - 1);
  const options = inner === undefined ? undefined : { cause: inner };
  const copy = new Error(scrub(thrown.message), options);
  copy.name = scrub(thrown.name);
  if (thrown.stack !== undefined) copy.stack = scrub(thrown.stack);
  const code: unknown = 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? Object.assign(copy, { code: scrub(code) }) : copy;
}

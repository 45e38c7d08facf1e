import manifest from '../package.json' with { type: 'json' };

/**
 * The codes of every error that this SDK throws. There is one base class with flat subclasses, each with one stable `code`:
 * branch on `error.code` where two copies of the package could meet, on `instanceof` elsewhere.
 *
 * A bad signature is not an error: verification returns a result. Errors are for failed calls and for
 * misconfiguration. No message, `cause` or property ever contains a key, a header or a callback body.
 */
export type PaymentServiceErrorCode =
  | 'api_error'
  | 'connection_failed'
  | 'timeout'
  | 'aborted'
  | 'invalid_response'
  | 'invalid_configuration'
  | 'invalid_input'
  | 'invalid_state'
  | 'not_found'
  | 'stale'
  | 'closed'
  | 'amount_mismatch'
  | 'unavailable'
  | 'sandbox_refusal';

/** The base of all errors of this SDK. `message` says what happened and what to do next. */
export abstract class PaymentServiceError extends Error {
  /** Written out in every class: minifiers rename classes, but a log must still name the error. */
  abstract override readonly name: string;
  abstract readonly code: PaymentServiceErrorCode;
}

/**
 * Whether a failed request may have reached the service:
 * - `'no'`: nothing was sent. Only such a request may be repeated without asking.
 * - `'refused'`: the service answered with a status that means that nothing was started (`REFUSED_STATUSES`).
 * - `'unknown'`: it may have arrived, and money may move.
 */
export type Sent = 'no' | 'refused' | 'unknown';

/**
 * The statuses after which nothing was started: the request was malformed, not authorised, not understood, or for an unknown
 * endpoint (RFC 9110, 15.5; protocol §7 shows 400). Others prove nothing: 409 can mean that the payment exists, and a request
 * answered with 408, 425 or 429 may still be processed.
 */
export const REFUSED_STATUSES: readonly number[] = [400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 431];

/** `ErrorOptions`, which the ES2020 declarations lack: projects with that target must compile against ours. */
interface Caused {
  cause?: unknown;
}

/** The parts of an `ApiError`. */
export interface ApiErrorDetails extends Caused {
  /** The HTTP status, 100 to 599; 0 if a browser hides the status of a redirect. */
  status: number;
  /** `message` of the error envelope (protocol §7), if the body is one. */
  serviceMessage?: string | undefined;
  /** The start of the body, at most 512 characters, with the client's keys removed. */
  snippet?: string | undefined;
  /** The number of requests sent, including the first one. */
  attempts?: number | undefined;
  /** @default 'refused' for a status of `REFUSED_STATUSES`, otherwise 'unknown' */
  sent?: Sent | undefined;
}

/**
 * The service answered with an error (protocol §7): an unsuccessful status or the error envelope.
 *
 * @example
 * catch (error) {
 *   if (error instanceof ApiError && error.status === 400) console.warn(error.serviceMessage);
 * }
 */
export class ApiError extends PaymentServiceError {
  override readonly name: string = 'ApiError';
  override readonly code = 'api_error';
  readonly status: number;
  readonly serviceMessage: string | undefined;
  readonly snippet: string | undefined;
  readonly attempts: number | undefined;
  /** `'refused'` if the status says that nothing was started, and no earlier attempt may have arrived. */
  readonly sent: Sent;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.serviceMessage = details.serviceMessage;
    this.snippet = details.snippet;
    this.attempts = details.attempts;
    this.sent = details.sent ?? (REFUSED_STATUSES.includes(details.status) ? 'refused' : 'unknown');
  }
}

/** There is no response: DNS, TCP or TLS failed, or the connection broke. The three reference calls are safe to repeat. */
export class ConnectionError extends PaymentServiceError {
  override readonly name: string = 'ConnectionError';
  override readonly code = 'connection_failed';
  /** `'no'` if no connection was made. */
  readonly sent: Sent;

  constructor(message: string, options: Caused & { sent?: Sent | undefined } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.sent = options.sent ?? 'unknown';
  }
}

/** The deadline of the call (`timeoutMs`) has passed. It covers all attempts, waits and bodies. */
export class TimeoutError extends PaymentServiceError {
  override readonly name: string = 'TimeoutError';
  override readonly code = 'timeout';
  readonly sent: Sent = 'unknown';
}

/** The caller's `signal` ended a `request()`. Its reason is the `cause`. */
export class AbortedError extends PaymentServiceError {
  override readonly name: string = 'AbortError';
  override readonly code = 'aborted';
  /** `'no'` if the signal had aborted before anything was sent. */
  readonly sent: Sent;

  constructor(message: string, options: Caused & { sent: Sent }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.sent = options.sent;
  }
}

/** The response breaks the contract: it is not JSON, or the envelope or a field has the wrong type. */
export class InvalidResponseError extends PaymentServiceError {
  override readonly name: string = 'InvalidResponseError';
  override readonly code = 'invalid_response';
  /** The HTTP status of the response. */
  readonly status: number | undefined;
  /** The start of the body, at most 512 characters, with the client's keys removed. */
  readonly snippet: string | undefined;
  /** The service has seen the request. */
  readonly sent: Sent = 'unknown';

  constructor(
    message: string,
    details: Caused & { status?: number | undefined; snippet?: string | undefined } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.snippet = details.snippet;
  }
}

/**
 * An option or argument is invalid, or a route is mounted in the wrong place. To fix it, change the program or its environment.
 * Thrown at construction wherever possible. The message names the option, never its value.
 */
export class ConfigurationError extends PaymentServiceError {
  override readonly name: string = 'ConfigurationError';
  override readonly code = 'invalid_configuration';
  /** Nothing was sent. */
  readonly sent: Sent = 'no';
  /** The name of the wrong option, such as `signingKey`. */
  readonly option: string;
  /** The address of the page with causes and fixes. */
  readonly docs: string = documentation('troubleshooting.md#the-program-does-not-start');

  constructor(option: string, message: string, options?: Caused) {
    super(message, options);
    this.option = option;
  }
}

/**
 * A person typed or uploaded something invalid, such as an amount, a note or a statement file. To fix it, correct the input, not
 * the program. Nothing was changed. You can show the message beside the field; it never repeats the value.
 *
 * @example
 * catch (error) {
 *   if (error instanceof InvalidInputError) return showForm({ [error.field]: error.message });
 * }
 */
export class InvalidInputError extends PaymentServiceError {
  override readonly name: string = 'InvalidInputError';
  override readonly code = 'invalid_input';
  /** The name of the wrong field, such as `amount`. */
  readonly field: string;

  constructor(field: string, message: string, options?: Caused) {
    super(message, options);
    this.field = field;
  }
}

/**
 * The operation is not valid in the current state, for example because the transition was settled in the meantime.
 * Nothing was changed. Read the state again.
 *
 * @example
 * catch (error) {
 *   if (error instanceof InvalidStateError) return showAgain(await inbox.payment(reference), error.message);
 * }
 */
export class InvalidStateError extends PaymentServiceError {
  override readonly name: string = 'InvalidStateError';
  override readonly code = 'invalid_state';
}

/**
 * The subject of the call does not exist, or no longer exists: a payment that was never reported or expected, or a snapshot that
 * was not recorded. Nothing was done.
 *
 * @example
 * catch (error) {
 *   if (error instanceof NotFoundError) return new Response(error.message, { status: 404 });
 * }
 */
export class NotFoundError extends PaymentServiceError {
  override readonly name: string = 'NotFoundError';
  override readonly code = 'not_found';
}

/**
 * The subject of a decision has changed since the person read it, for example in another window or by a second click. Nothing was
 * done. Read it again, then decide.
 *
 * @example
 * catch (error) {
 *   if (error instanceof StaleError) return showAgain(await inbox.payment(reference), error.message);
 * }
 */
export class StaleError extends PaymentServiceError {
  override readonly name: string = 'StaleError';
  override readonly code = 'stale';
}

/** The object's `close()` was called, for example while the process ends. Nothing was done. Create a new one. */
export class ClosedError extends PaymentServiceError {
  override readonly name: string = 'ClosedError';
  override readonly code = 'closed';
}

/**
 * Throw this from a handler that cannot store a callback now. The route responds with `failureStatus` and `Retry-After`, which
 * asks the sender to retry.
 *
 * @example
 * if (!database.isUp()) throw new UnavailableError('The database is unavailable.', { retryAfterSeconds: 5 });
 */
export class UnavailableError extends PaymentServiceError {
  override readonly name: string = 'UnavailableError';
  override readonly code = 'unavailable';
  /** The value of `Retry-After`: a whole number of seconds, 1 or more. @default 5 */
  readonly retryAfterSeconds: number;

  constructor(message: string, options: Caused & { retryAfterSeconds?: number | undefined } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterSeconds = Math.max(1, Math.ceil(options.retryAfterSeconds ?? 5));
  }
}

/**
 * The web address of a documentation page, in the repository that package.json names. A test of the documentation checks that
 * each page exists.
 */
export function documentation(page: string): string {
  return `${manifest.homepage.split('/tree/')[0]}/blob/main/docs/${page}`;
}

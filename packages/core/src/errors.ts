import manifest from '../package.json' with { type: 'json' };

/**
 * Every error that this SDK throws. One base, flat subclasses, each with one stable `code`: branch on
 * `error.code` where two copies of the package could meet, on `instanceof` elsewhere.
 *
 * A bad signature is not an error: verification returns a result. Errors are for failed calls and for
 * misconfiguration. No message, `cause` or property ever holds a key, a header or a body of a callback.
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
  /** Written out in every class: a minifier renames classes, and a log must still name the error. */
  abstract override readonly name: string;
  abstract readonly code: PaymentServiceErrorCode;
}

/**
 * Whether a request that failed may have reached the service:
 * - `'no'`: nothing was sent. Only this may be repeated without asking.
 * - `'refused'`: the service answered with a status that says that nothing was started (`REFUSED_STATUSES`).
 * - `'unknown'`: it may have arrived, and money may move.
 */
export type Sent = 'no' | 'refused' | 'unknown';

/**
 * The statuses after which nothing was started: the request was malformed, not authorized, for no endpoint, or not understood
 * (RFC 9110, 15.5; protocol §7 shows 400). Others prove nothing: 409 can mean that the payment exists, and a request that was
 * answered with 408, 425 or 429 may be worked on.
 */
export const REFUSED_STATUSES: readonly number[] = [400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 431];

/** `ErrorOptions`, which the declarations of ES2020 lack: a project with that target compiles against ours. */
interface Caused {
  cause?: unknown;
}

/** The parts of an `ApiError`. */
export interface ApiErrorDetails extends Caused {
  /** The HTTP status, 100 to 599; 0 where a browser hides that of a redirect. */
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
 * The service answered with an error (protocol §7): a status that is not a success, or the error envelope.
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

/** The deadline of the call (`timeoutMs`) passed. It covers all attempts, waits and bodies. */
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
 * An option or argument is invalid, or a route is mounted in the wrong place: a change of the program or of its environment
 * repairs it. Thrown at construction wherever that is possible. The message names the option and never its value.
 */
export class ConfigurationError extends PaymentServiceError {
  override readonly name: string = 'ConfigurationError';
  override readonly code = 'invalid_configuration';
  /** Nothing was sent. */
  readonly sent: Sent = 'no';
  /** The name of the option that is wrong, for example `signingKey`. */
  readonly option: string;
  /** The address of the page that has the causes and fixes of such messages. */
  readonly docs: string = documentation('troubleshooting.md#the-program-does-not-start');

  constructor(option: string, message: string, options?: Caused) {
    super(message, options);
    this.option = option;
  }
}

/**
 * What a person typed or uploaded is invalid, such as an amount, a note or the file of a statement: another input repairs it, not
 * another program. Nothing was changed. The message can be shown beside the field, and never repeats its value.
 *
 * @example
 * catch (error) {
 *   if (error instanceof InvalidInputError) return showForm({ [error.field]: error.message });
 * }
 */
export class InvalidInputError extends PaymentServiceError {
  override readonly name: string = 'InvalidInputError';
  override readonly code = 'invalid_input';
  /** The name of what is wrong, for example `amount`. */
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
 * What the call is about does not exist, or no longer: a payment that was never reported and never expected, or a snapshot that
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
 * What a person decided on has changed since they read it, such as in another window or by a second click. Nothing was done. Read
 * it again, then decide.
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

/** Its `close()` was called, such as while the process ends. Nothing was done. Create another one. */
export class ClosedError extends PaymentServiceError {
  override readonly name: string = 'ClosedError';
  override readonly code = 'closed';
}

/**
 * Throw it from a handler that cannot store a callback now. The route responds with `failureStatus` and `Retry-After`, which
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
 * The address of a page of the documents, on the web: the repository is the one that package.json names. A test of the documents
 * checks that each page exists.
 */
export function documentation(page: string): string {
  return `${manifest.homepage.split('/tree/')[0]}/blob/main/docs/${page}`;
}

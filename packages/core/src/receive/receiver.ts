import { TimeoutError, UnavailableError } from '../errors.ts';
import { checkOptions, DURATION, FUNCTION, type OptionRules } from '../options/options.ts';
import { runHook } from '../reporting/hook.ts';
import {
  type ReceiverVerifier,
  redirectVerifier,
  VERIFIER_RULES,
  type Verifier,
  type VerifierOptions,
  verifierOf,
} from '../verify/create-verifier.ts';
import type { AuthenticRefusal, Refusal } from '../verify/refusal.ts';
import { type ForgedRefusal, type RefusalCode, type RequestCode, refuse } from '../verify/refusal.ts';
import { offerCheck } from '../verify/signature.ts';
import type { VerifiedCallback, VerifiedRedirect } from '../verify/verified.ts';
import { headerOf, type IncomingCallback } from './request-body.ts';
import { TimeLimit } from './time-limit.ts';

/** An answer, in the terms that every framework shares. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The request of a refused callback, to find out why it was refused. Headers and body are behind functions, so that a log of this
 * object shows neither (threat A23).
 */
export interface RefusedRequest {
  readonly method: string;
  /** A header by its lower-case name; a repeated one is joined with ', '. */
  readonly header: (name: string) => string | undefined;
  /** The bytes, or the result of a body parser; undefined if the refusal came before the body was read. */
  readonly body: () => unknown;
}

/** What callbacks and redirects share: how to verify, and what to report. */
interface ReceiverOptions extends VerifierOptions {
  /**
   * Called with every refusal, for logs and metrics. The network sees a constant answer (threat A22).
   * `explainRefusals()` of `@payment-service/core/explain` makes one that prints the reason during development.
   */
  readonly onRefused?: ((refusal: Refusal, request?: RefusedRequest) => unknown) | undefined;
  /** Called with the error of a failed handler, and with misuse found at run time. @default console.error */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /**
   * The status when the handler fails, does not settle in time, or throws `UnavailableError`: 400 to 599, always with
   * `Retry-After`. The protocol does not show which answers make the service retry; 429 does under all common rules (anything but
   * 2xx; 5xx and 429; below 500). Ask the service which rule it uses.
   *
   * @default 429
   */
  readonly failureStatus?: number | undefined;
  /**
   * How long a handler may take, in milliseconds. After that, the sender is asked to retry, or the customer is sent to
   * `refusedLocation`. The handler keeps running.
   *
   * @default 30000
   */
  readonly handlerTimeoutMs?: number | undefined;
}

/** Methods that can carry the body of a callback. */
export type CallbackMethod = 'POST' | 'PUT' | 'PATCH';

/** Options of `paymentCallbacks()` in every adapter. */
export interface CallbackOptions extends ReceiverOptions {
  /**
   * Receives every verified callback; may be async. The answer is 200 once it has resolved, or `failureStatus` if it throws.
   * Without it, the adapter passes the callback through in the framework's usual way.
   */
  readonly onCallback?: ((callback: VerifiedCallback) => unknown) | undefined;
  /**
   * Receives every refusal whose signature is valid (refused by a ':' rule or a tolerance), so that you can keep the evidence.
   * The answer is 200 once it has resolved. Without it, the answer is 401, as for every other refusal.
   */
  readonly onAuthenticRefusal?: ((refusal: AuthenticRefusal) => unknown) | undefined;
  /**
   * The accepted methods, since the protocol does not show the callback's method (protocol §6, decision D48). The answer to any
   * other is 405.
   *
   * @default ['POST']
   */
  readonly methods?: readonly CallbackMethod[] | undefined;
  /** How long a sender may take to send the body, in milliseconds. After that, the answer is 408. @default 10000 */
  readonly bodyTimeoutMs?: number | undefined;
}

/** Options of `paymentRedirects()` in every adapter. */
export interface RedirectOptions extends ReceiverOptions {
  /**
   * Receives every verified redirect and returns the address to send the browser to: one without the signature, such as
   * `/orders/ORD-1001`. Never take that address, or HTML, from an unsigned field (threat A25). If it fails or returns no
   * address, `onError` receives the error and the customer is sent to `refusedLocation`.
   */
  readonly onRedirect?: ((redirect: VerifiedRedirect) => string | URL | Promise<string | URL>) | undefined;
  /**
   * Where to send the browser if the redirect is refused or `onRedirect` fails. The customer may have paid, so show that the
   * payment is being checked.
   *
   * @default a page in English, "Your payment is being checked.", with the status 401 or `failureStatus`
   */
  readonly refusedLocation?: string | undefined;
}

interface Receiver {
  /** Calls `onRefused`. An error in that hook reaches `onError` and does not change the answer. */
  readonly reportRefusal: (refusal: Refusal, request?: IncomingCallback, body?: unknown) => void;
  readonly reportError: (error: unknown) => void;
  readonly failureStatus: number;
  readonly handlerLimit: TimeLimit;
}

/** Checked options of a callback route. */
export interface CallbackReceiver
  extends Receiver,
    Pick<CallbackOptions, 'onCallback' | 'onAuthenticRefusal'> {
  readonly verifier: Pick<ReceiverVerifier, 'verifySigned'>;
  readonly methods: readonly string[];
  readonly bodyLimit: TimeLimit;
}

/** Checked options of a redirect route. */
export interface RedirectReceiver extends Receiver, Pick<RedirectOptions, 'onRedirect' | 'refusedLocation'> {
  readonly verifyRedirect: Verifier['verifyRedirect'];
}

const METHODS: readonly unknown[] = ['POST', 'PUT', 'PATCH'];
const isMethod = (method: unknown): boolean => METHODS.includes(method);

const RECEIVER_RULES: OptionRules<Omit<ReceiverOptions, keyof VerifierOptions>> = {
  onRefused: FUNCTION,
  onError: FUNCTION,
  failureStatus: [
    (status) => Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599,
    'a number from 400 to 599',
  ],
  handlerTimeoutMs: DURATION,
};
const CALLBACK_RULES: OptionRules<Omit<CallbackOptions, keyof ReceiverOptions>> = {
  onCallback: FUNCTION,
  onAuthenticRefusal: FUNCTION,
  methods: [
    (methods) => Array.isArray(methods) && methods.length > 0 && methods.every(isMethod),
    'a list of POST, PUT or PATCH, the methods that carry a body',
  ],
  bodyTimeoutMs: DURATION,
};
const REDIRECT_RULES: OptionRules<Omit<RedirectOptions, keyof ReceiverOptions>> = {
  onRedirect: FUNCTION,
  refusedLocation: [isLocation, 'an address'],
};

/**
 * Checks the options of a callback route at construction.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * const receiver = createCallbackReceiver({ signingKey, onCallback: (callback) => save(callback) });
 */
export function createCallbackReceiver(options: CallbackOptions): CallbackReceiver {
  checkOptions('paymentCallbacks()', options, { ...VERIFIER_RULES, ...RECEIVER_RULES, ...CALLBACK_RULES });
  const { onCallback, onAuthenticRefusal, methods = ['POST'], bodyTimeoutMs = 10_000 } = options;
  const bodyLimit = new TimeLimit(bodyTimeoutMs);
  const verifier = verifierOf(options);
  // An inbox verifies again what an earlier process left in its spool (threat A66).
  for (const handler of [onCallback, onAuthenticRefusal]) offerCheck(handler, verifier.check);
  return {
    ...createReceiver(options),
    verifier,
    onCallback,
    onAuthenticRefusal,
    methods: [...methods],
    bodyLimit,
  };
}

/**
 * Checks the options of a redirect route at construction.
 *
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * const receiver = createRedirectReceiver({ signingKey, onRedirect: () => '/thanks' });
 */
export function createRedirectReceiver(options: RedirectOptions): RedirectReceiver {
  checkOptions('paymentRedirects()', options, { ...VERIFIER_RULES, ...RECEIVER_RULES, ...REDIRECT_RULES });
  const { onRedirect, refusedLocation } = options;
  const verifyRedirect = redirectVerifier(verifierOf(options));
  return { ...createReceiver(options), verifyRedirect, onRedirect, refusedLocation };
}

function createReceiver(options: ReceiverOptions): Receiver {
  const { onRefused, onError = logError, failureStatus = 429, handlerTimeoutMs = 30_000 } = options;
  const reportError = (error: unknown): void => runHook(() => onError(error), logError);
  return {
    reportRefusal: (refusal, request, body) =>
      runHook(() => onRefused?.(refusal, request && refusedRequest(request, body)), reportError),
    reportError,
    failureStatus,
    handlerLimit: new TimeLimit(handlerTimeoutMs),
  };
}

function refusedRequest(request: IncomingCallback, body: unknown): RefusedRequest {
  return { method: request.method, header: (name) => headerOf(request, name), body: () => body };
}

// For an UnavailableError, the message is enough: its stack is inside the inbox, and a flood of replays would print it each time.
const logError = (error: unknown): void =>
  console.error(error instanceof UnavailableError ? error.message : error);

/**
 * Waits for a handler within its time limit. Anything with a `then` counts, as for `await`, such as a query builder, or an RPC
 * library's promise that is a function (threat A41). A synchronous handler creates no promise.
 */
export function settled<T>(
  running: T | Promise<T>,
  receiver: Receiver,
  timeoutMessage: string = HANDLER_TIMEOUT,
): T | Promise<T> {
  const mayHaveThen = (typeof running === 'object' && running !== null) || typeof running === 'function';
  if (!mayHaveThen || typeof Reflect.get(running, 'then') !== 'function') return running;
  const { handlerLimit, reportError } = receiver;
  return new Promise((resolve, reject) => {
    let report = reject;
    const limited = handlerLimit.start(() => {
      reject(new HandlerTimeoutError(timeoutMessage));
      report = reportError; // Too late for an answer, but still reported.
    });
    void Promise.resolve(running)
      .then(resolve, (error) => report(error))
      .finally(() => handlerLimit.stop(limited));
  });
}

/** Reports a handler's failure and returns the reply for it: the sender always gets an answer. */
export function failureReply(
  error: unknown,
  receiver: Receiver,
  headers?: Reply['headers'],
  name: string = nameOf(error),
): Reply {
  receiver.reportError(error);
  const seconds = error instanceof UnavailableError ? error.retryAfterSeconds : 30;
  return jsonReply(receiver.failureStatus, { error: name }, { 'retry-after': String(seconds), ...headers });
}

function nameOf(error: unknown): string {
  if (error instanceof UnavailableError) return 'unavailable';
  return error instanceof HandlerTimeoutError ? 'handler_timeout' : 'handler_failed';
}

class HandlerTimeoutError extends TimeoutError {}

const HANDLER_TIMEOUT =
  'The handler did not settle within handlerTimeoutMs, so the sender was asked to retry. The handler is still running: ' +
  'deduplicate by transitionId, and store the callback before slow work.';

// With the charset, since Fastify adds it anyway, and the answers must be the same everywhere.
const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers are constant: nothing about the request, the keys or the reason goes over the network (threat A22). */
export function jsonReply(status: number, value: object, headers?: Reply['headers']): Reply {
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** Frameworks refuse header injection in different ways; here it is always refused in the same way. */
export function isLocation(location: unknown): location is string {
  return typeof location === 'string' && /^[\x21-\x7e]+$/.test(location);
}

/** Separate from the verifier's hints, so that a program that verifies without a receiver does not load them. */
const HINTS: { readonly [Code in RequestCode]: string } = {
  method_not_allowed: 'A callback is a POST, unless methods says otherwise; a redirect is a GET.',
  encoding_unsupported: 'The body has a Content-Encoding other than gzip and deflate.',
  body_too_large: 'The body exceeds 64 KiB, before or after decompression.',
  body_timeout: 'The sender took longer than bodyTimeoutMs to send the body.',
  body_aborted: 'The sender closed the connection before the body was complete.',
};

export function refuseRequest(code: RefusalCode): ForgedRefusal {
  return isRequestCode(code) ? refuse(code, HINTS[code]) : refuse(code);
}

export function isRequestCode(code: RefusalCode): code is RequestCode {
  return Object.hasOwn(HINTS, code);
}

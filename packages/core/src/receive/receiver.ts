import { ConfigurationError } from '../errors.ts';
import { createVerifier, type Verifier, type VerifierOptions } from '../verify/create-verifier.ts';
import type { AuthenticRefusal, Refusal } from '../verify/refusal.ts';
import type { VerifiedCallback, VerifiedRedirect } from '../verify/verified.ts';

/** What callbacks and redirects share: how to verify, and whom to tell. */
interface ReceiverOptions extends VerifierOptions {
  /** Called with every refusal, for logs and metrics. The network sees a constant answer. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  /** Called with the error of a handler that failed, and with misuse found at run time. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** The status when the handler fails, 400 to 599. Default 500. An option, since the retry rule is not shown. */
  readonly failureStatus?: number | undefined;
}

/** Options of `paymentCallbacks()` in every adapter. */
export interface CallbackOptions extends ReceiverOptions {
  /**
   * Gets every verified callback; may be async. The answer is 200 after it has resolved, `failureStatus` when it
   * throws. Without it the adapter hands on in the framework's own way.
   */
  readonly onCallback?: ((callback: VerifiedCallback) => unknown) | undefined;
  /**
   * Gets every refusal whose signature fits (a ':' rule, a tolerance), so that the evidence can be kept; the answer is
   * 200 after it has resolved. Without it such a callback is answered 401 like any other refusal.
   */
  readonly onAuthenticRefusal?: ((refusal: AuthenticRefusal) => unknown) | undefined;
  /** How long a sender may take for the body, in milliseconds. Default 10 000; then 408. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** Options of `paymentRedirects()` in every adapter. */
export interface RedirectOptions extends ReceiverOptions {
  /**
   * Gets every verified redirect and answers where to send the browser: an address without the signature, such as
   * `/orders/ORD-1001`. Never take that address, or HTML, from an unsigned field.
   */
  readonly onRedirect?: ((redirect: VerifiedRedirect) => string | URL | Promise<string | URL>) | undefined;
  /** Where a refused browser is sent. Without it: the constant 401. */
  readonly refusedLocation?: string | undefined;
}

interface Receiver {
  readonly verifier: Verifier;
  /** Tells `onRefused`; an error in that hook reaches `onError` and changes no answer. */
  readonly reportRefusal: (refusal: Refusal) => void;
  readonly reportError: (error: unknown) => void;
  readonly failureStatus: number;
}

/** Checked options, ready for `receiveCallback()`. */
export interface CallbackReceiver extends Receiver {
  readonly onCallback: CallbackOptions['onCallback'];
  readonly onAuthenticRefusal: CallbackOptions['onAuthenticRefusal'];
  readonly bodyTimeoutMs: number;
}

/** Checked options, ready for `receiveRedirect()`. */
export interface RedirectReceiver extends Receiver {
  readonly onRedirect: RedirectOptions['onRedirect'];
  readonly refusedLocation: string | undefined;
}

/**
 * Checks the options of a callback route once, at construction.
 *
 * @throws {ConfigurationError} that names the option.
 *
 * @example
 * const receiver = createCallbackReceiver({ signingKey, onCallback: (callback) => save(callback) });
 */
export function createCallbackReceiver(options: CallbackOptions): CallbackReceiver {
  const receiver = createReceiver(options, ['onCallback', 'onAuthenticRefusal']);
  const { onCallback, onAuthenticRefusal, bodyTimeoutMs = 10_000 } = options;
  if (!Number.isFinite(bodyTimeoutMs) || bodyTimeoutMs <= 0) {
    throw new ConfigurationError('bodyTimeoutMs', 'bodyTimeoutMs must be a number of milliseconds above 0.');
  }
  return Object.freeze({ ...receiver, onCallback, onAuthenticRefusal, bodyTimeoutMs });
}

/**
 * Checks the options of a redirect route once, at construction.
 *
 * @throws {ConfigurationError} that names the option.
 *
 * @example
 * const receiver = createRedirectReceiver({ signingKey, onRedirect: () => '/thanks' });
 */
export function createRedirectReceiver(options: RedirectOptions): RedirectReceiver {
  const receiver = createReceiver(options, ['onRedirect']);
  const { onRedirect, refusedLocation } = options;
  if (refusedLocation !== undefined && (typeof refusedLocation !== 'string' || refusedLocation === '')) {
    throw new ConfigurationError('refusedLocation', 'refusedLocation must be an address, or be left out.');
  }
  return Object.freeze({ ...receiver, onRedirect, refusedLocation });
}

function createReceiver(options: ReceiverOptions, handlers: readonly string[]): Receiver {
  const verifier = createVerifier(options);
  const { onRefused, onError, failureStatus = 500 } = options;
  for (const name of [...handlers, 'onRefused', 'onError']) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined && typeof value !== 'function') {
      throw new ConfigurationError(name, `${name} must be a function, or be left out.`);
    }
  }
  if (!Number.isInteger(failureStatus) || failureStatus < 400 || failureStatus > 599) {
    throw new ConfigurationError('failureStatus', 'failureStatus must be an HTTP status from 400 to 599.');
  }
  const reportError = (error: unknown): void => {
    runHook(() => (onError ?? logError)(error), logError);
  };
  const reportRefusal = (refusal: Refusal): void => {
    if (onRefused !== undefined) runHook(() => onRefused(refusal), reportError);
  };
  return { verifier, reportRefusal, reportError, failureStatus };
}

/** A hook reports; whatever happens in it, the answer stands. Its own error is reported, rejections included. */
function runHook(hook: () => unknown, report: (error: unknown) => void): void {
  const run = async (): Promise<unknown> => hook();
  void run().catch(report);
}

function logError(error: unknown): void {
  console.error(error);
}

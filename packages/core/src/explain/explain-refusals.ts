import { environmentVariable } from '../environment.ts';
import { ConfigurationError } from '../errors.ts';
import type { RefusedRequest } from '../receive/receiver.ts';
import type { Refusal, RefusalCode } from '../verify/refusal.ts';
import { type ExplainOptions, explain, PROXY_HEADERS } from './explain.ts';
import type { ExplainKeys } from './hypotheses.ts';
import type { ExplainedRequest } from './readings.ts';

/** Options of `explainRefusals()`. */
export interface ExplainRefusalsOptions extends ExplainKeys, ExplainOptions {
  /** Receives one text of several lines. @default console.warn */
  readonly log?: ((text: string) => void) | undefined;
}

/** Everything that `explain()` looks at. */
const HEADERS = [
  'hmac-signature',
  'hmac_signature',
  'x-hmac-signature',
  'x-hmac_signature',
  'hmac',
  'signature',
  'x-signature',
  'x-payment-signature',
  'content-type',
  'content-length',
  ...PROXY_HEADERS,
];

/** What `explain()` says more about than the hint, even though the body was not read. */
const WITHOUT_BODY: readonly RefusalCode[] = [
  'method_not_allowed',
  'signature_missing',
  'signature_malformed',
];

/**
 * Makes an `onRefused` for development, which prints why each callback was refused and what to do. For a redirect it prints
 * the hint.
 *
 * @param options The keys and options of the route, and `log`.
 * @throws {ConfigurationError} With NODE_ENV=production: it costs hundreds of digests for every forged request.
 *
 * @example
 * paymentCallbacks({
 *   signingKey,
 *   onRefused: process.env.NODE_ENV === 'development' ? explainRefusals({ signingKey }) : undefined,
 * });
 */
export function explainRefusals(
  options: ExplainRefusalsOptions,
): (refusal: Refusal, request?: RefusedRequest) => void {
  if (environmentVariable('NODE_ENV') === 'production') {
    const message =
      'explainRefusals() is for development. In production, log the code and hint of onRefused, and call explain() for one recorded request.';
    throw new ConfigurationError('onRefused', message);
  }
  const { log = (text: string) => console.warn(text), others, ...rest } = options;
  return ({ code, hint }, request) => {
    const body = request?.body() as ExplainedRequest['body'];
    if (request === undefined || (body === undefined && !WITHOUT_BODY.includes(code)))
      return log(`Refused (${code}).\n  ${hint}`);
    const { method } = request;
    const headers = HEADERS.map((name) => [name, request.header(name)] as const);
    const { title, detail, fix } = explain(
      { method, headers: Object.fromEntries(headers), body },
      { ...rest, others },
      rest,
    );
    log(`Callback refused (${code}): ${title}\n  ${detail}\n  ${fix}`);
  };
}

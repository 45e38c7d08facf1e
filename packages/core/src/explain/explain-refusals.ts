import { ConfigurationError } from '../errors.ts';
import { notDevelopment } from '../options/environment.ts';
import { checkArgument } from '../options/options.ts';
import type { RefusedRequest } from '../receive/receiver.ts';
import type { Refusal, RefusalCode } from '../verify/refusal.ts';
import { type ExplainOptions, explain, PROXY_HEADERS } from './explain.ts';
import { type ExplainKeys, KEYS } from './hypotheses.ts';
import type { ExplainedRequest } from './readings.ts';

/** Options of `explainRefusals()`. */
export interface ExplainRefusalsOptions extends ExplainKeys, ExplainOptions {
  /** Receives one string of several lines. @default console.warn */
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

/** Refusals for which `explain()` says more than the hint, even though the body was not read. */
const WITHOUT_BODY: readonly RefusalCode[] = [
  'method_not_allowed',
  'signature_missing',
  'signature_malformed',
];

/**
 * Makes an `onRefused` for development that prints why each callback was refused and what to do. For a redirect it prints the
 * hint. Any sender can cause an explanation, which costs about a hundred digests, so it does not start elsewhere (threat A45).
 *
 * @param options The keys and options of the route, and `log`.
 * @throws {ConfigurationError} Unless NODE_ENV is `development` or `test`.
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
  const environment = notDevelopment();
  if (environment !== undefined) {
    const message = `explainRefusals() is for development, and ${environment}. For development, set NODE_ENV=development. Elsewhere, log the code and hint of onRefused, and call explain() for one recorded request.`;
    throw new ConfigurationError('onRefused', message);
  }
  checkArgument('explainRefusals()', 'options', options, KEYS);
  const { log = (text: string) => console.warn(text), others, ...rest } = options;
  return ({ code, hint }, request) => {
    const body = request?.body() as ExplainedRequest['body'];
    if (request === undefined || (body === undefined && !WITHOUT_BODY.includes(code)))
      return log(`Refused (${code}).\n  ${hint}`);
    // A method is wrong only if the route refused it.
    const method = code === 'method_not_allowed' ? request.method : undefined;
    const headers = Object.fromEntries(HEADERS.map((name) => [name, request.header(name)]));
    const { title, detail, fix, docs } = explain({ method, headers, body }, { ...rest, others }, rest);
    log(`Callback refused (${code}): ${title}\n  ${detail}\n  ${fix}\n  ${docs}`);
  };
}

import { ConfigurationError } from '../errors.ts';
import { servingEnvironment } from '../options/environment.ts';
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

/** Refusals about which `explain()` says more than the hint, even though the body was not read. */
const WITHOUT_BODY: readonly RefusalCode[] = [
  'method_not_allowed',
  'signature_missing',
  'signature_malformed',
];

/** How many refusals are explained in one second of the clock. */
const MAX_EXPLAINED = 10;

/**
 * Makes an `onRefused` for development, which prints why each callback was refused and what to do. For a redirect it prints
 * the hint. An explanation costs hundreds of digests, so at most 10 a second are made; the rest are counted (threat A45).
 *
 * @param options The keys and options of the route, and `log`.
 * @throws {ConfigurationError} Unless NODE_ENV is `development`, `test` or unset.
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
  const environment = servingEnvironment();
  if (environment !== undefined) {
    const message = `explainRefusals() is for development, and NODE_ENV is "${environment}". Elsewhere, log the code and hint of onRefused, and call explain() for one recorded request.`;
    throw new ConfigurationError('onRefused', message);
  }
  checkArgument('explainRefusals()', 'options', options, KEYS);
  const { log = (text: string) => console.warn(text), others, ...rest } = options;
  const isWithinBudget = budgetOf(rest.now ?? Date.now, log);
  return ({ code, hint }, request) => {
    if (!isWithinBudget()) return;
    const body = request?.body() as ExplainedRequest['body'];
    if (request === undefined || (body === undefined && !WITHOUT_BODY.includes(code)))
      return log(`Refused (${code}).\n  ${hint}`);
    // Another method is wrong only where the route has refused it.
    const method = code === 'method_not_allowed' ? request.method : undefined;
    const headers = Object.fromEntries(HEADERS.map((name) => [name, request.header(name)]));
    const { title, detail, fix } = explain({ method, headers, body }, { ...rest, others }, rest);
    log(`Callback refused (${code}): ${title}\n  ${detail}\n  ${fix}`);
  };
}

/** Whether one more refusal may be explained in this second. Logs when it starts to count, and then the total. */
function budgetOf(now: () => number, log: (text: string) => void): () => boolean {
  let second = Number.NaN;
  let seen = 0;
  return () => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      const over = seen - MAX_EXPLAINED;
      if (over > 0) log(`${over} more ${over === 1 ? 'refusal was' : 'refusals were'} not explained.`);
      second = current;
      seen = 0;
    }
    seen++;
    if (seen === MAX_EXPLAINED + 1)
      log(
        `More than ${MAX_EXPLAINED} callbacks were refused in one second: the rest are counted, not explained.`,
      );
    return seen <= MAX_EXPLAINED;
  };
}

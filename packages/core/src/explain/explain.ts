import { environmentVariable } from '../environment.ts';
import { ConfigurationError } from '../errors.ts';
import type { RefusedRequest } from '../receive/receiver.ts';
import { createVerifier } from '../verify/create-verifier.ts';
import type { Refusal } from '../verify/refusal.ts';
import { type Explanation, explanation } from './causes.ts';
import { type ExplainKeys, findMatch, keyGuesses } from './hypotheses.ts';
import {
  bodyProblem,
  brokenRule,
  duration,
  type ExplainOptions,
  fieldProblem,
  keyProblem,
  PROXY_HEADERS,
  requestProblem,
  signatureElsewhere,
  signatureProblem,
  type Verdict,
} from './problems.ts';
import { type ExplainedRequest, looseSignatures, readFacts, readingsOf } from './readings.ts';

/**
 * Why was this callback refused? Names the one mistake that fits: it computes the MAC under each of them (another key, a
 * decoded key, the signed body, another order of the fields, …) and compares. Only when none fits, the form of the request
 * decides. `createVerifier()` itself decides `ok`.
 *
 * For development and for support: it costs hundreds of digests, and its answer would help a forger. Never send it to the
 * sender. It holds no key, no header and no body, so it can be logged.
 *
 * @param options The options of the verifier that refused.
 * @throws {ConfigurationError} When an option is invalid. A signing key that cannot be one is an explanation (`key_invalid`),
 * and so is hostile input.
 *
 * @example
 * const { title, detail, fix } = explain(
 *   { method: request.method, headers: request.headers, body },
 *   { signingKey: process.env.SIGNING_KEY, publicKey: process.env.PUBLIC_KEY, secretKey: process.env.SECRET_KEY },
 * );
 * console.warn(`${title} ${detail} ${fix}`);
 */
export function explain(
  request: ExplainedRequest,
  keys: ExplainKeys,
  options: ExplainOptions = {},
): Explanation {
  const facts = readFacts(request);
  const outside = requestProblem(request, facts);
  if (outside !== undefined) return outside;
  const header = facts.headers.get('hmac-signature');
  const verdict = verdictOf({ signature: header, body: request.body }, keys, options);
  if ('ok' in verdict && verdict.ok) {
    const { unit, ageSeconds } = verdict.timestamp;
    const age = ageSeconds === undefined ? 'not a number' : `in ${unit}, ${duration(ageSeconds)}`;
    return explanation('verified', `It fits the key "${verdict.keyId}". t is ${age}.`);
  }
  const elsewhere = header ? undefined : signatureElsewhere(request, facts);
  const signatures = elsewhere?.signatures ?? looseSignatures(header ?? '');
  const readings = readingsOf(facts.data);
  const now = (options.now ?? Date.now)();
  const { match, tried } = findMatch(facts, signatures, readings, keyGuesses(keys, now));
  const form = match?.signature;
  if (match?.cause !== undefined) return explanation(match.cause, `${match.detail} ${form?.detail}`.trim());
  if (elsewhere !== undefined) {
    const fit =
      facts.bytes.length === 0
        ? 'There is no body to compare it with.'
        : `It ${form ? 'fits' : 'does not fit'} the body.`;
    return explanation('signature_renamed', `${elsewhere.place} ${fit}`);
  }
  if (form?.cause !== undefined) return explanation(form.cause, `${form.detail} Read leniently, it fits.`);
  return (
    (form && brokenRule(verdict, readings[0], form.t, now, options)) ??
    signatureProblem(facts, signatures) ??
    bodyProblem(facts) ??
    fieldProblem(verdict, readings[0]) ??
    keyProblem(verdict, keys, tried)
  );
}

function verdictOf(
  callback: { signature: string | undefined; body: ExplainedRequest['body'] },
  keys: ExplainKeys,
  options: ExplainOptions,
): Verdict {
  const { signingKey, publicKey, secretKey } = keys;
  try {
    // To explain is not to trust: a sandbox key is as good as any.
    return createVerifier({
      ...options,
      signingKey,
      publicKey,
      secretKey,
      allowSandboxKeys: true,
    }).verifyCallback(callback);
  } catch (error) {
    if (error instanceof ConfigurationError && error.option.startsWith('signingKey')) return error;
    throw error;
  }
}

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
  'content-encoding',
  ...PROXY_HEADERS,
];

/** Refusals that say all themselves: there is no body to look at. */
const CLEAR: readonly string[] = ['body_timeout', 'body_aborted', 'encoding_unsupported', 'body_too_large'];

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
  const {
    log = (text: string) => console.warn(text),
    signingKey,
    publicKey,
    secretKey,
    others,
    ...rest
  } = options;
  return (refusal, request) => {
    const { code, hint } = refusal;
    if (
      request === undefined ||
      CLEAR.includes(code) ||
      (code === 'body_malformed' && request.body() === undefined)
    ) {
      return log(`Refused (${code}).\n  ${hint}`);
    }
    const headers = HEADERS.flatMap((name): [string, string][] => {
      const value = request.header(name);
      return value === undefined ? [] : [[name, value]];
    });
    const body = request.body() as ExplainedRequest['body'];
    const { title, detail, fix } = explain(
      { method: request.method, headers, body },
      { signingKey, publicKey, secretKey, others },
      rest,
    );
    log(`Callback refused (${code}): ${title}\n  ${detail}\n  ${fix}`);
  };
}

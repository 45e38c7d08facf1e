import { distance } from '../options/near-name.ts';
import { checkArgument, checkOptions, type OptionRules, RECORD, STRING } from '../options/options.ts';
import { readTimestamp } from '../verify/signature.ts';
import { type Explanation, OUTCOMES, type OutcomeCause, wordsOf } from './causes.ts';
import { type ExplainOptions, explain } from './explain.ts';
import { type ExplainKeys, KEYS, keyName, namedKeys } from './hypotheses.ts';
import { EXPLAINED, type ExplainedRequest, looseSignatures, readFacts } from './readings.ts';

/** One delivery as recorded by its sender. */
export interface Exchange {
  readonly request: ExplainedRequest & {
    readonly url: string;
    /** What the sender changed on purpose. @default nothing */
    readonly isForged?: 'signature' | 'timestamp' | 'amount' | 'currency' | undefined;
  };
  /** Left out if there was none. */
  readonly response?: (ExplainedRequest & { readonly status: number; readonly method?: never }) | undefined;
  /** The code or message of the failure, such as `ECONNREFUSED` or `timeout`. */
  readonly error?: string | undefined;
  /** From the start of the request, in milliseconds. */
  readonly durationMs?: number | undefined;
  /** Paths known to receive callbacks, to suggest the nearest one. @default ['/payments/callbacks'] */
  readonly knownPaths?: readonly string[] | undefined;
}

/** The outcome of a delivery. Contains no key, header or body. */
export interface Outcome extends Omit<Explanation, 'cause'> {
  /** Whether the endpoint did what it should. */
  readonly ok: boolean;
  readonly cause: OutcomeCause;
  /** `neutral`: correct, provided that the endpoint also did what the fix says. */
  readonly tone: 'good' | 'bad' | 'neutral';
}

/** What the codes and messages of Node, undici and Workers have in common; some apply to one protocol only. */
const ERRORS: readonly [OutcomeCause, RegExp, protocol?: string][] = [
  ['tls_to_plain_port', /EPROTO|ERR_SSL|version number|packet length/i, 'https:'],
  ['plain_to_tls_port', /HPE_INVALID|Parse Error/i, 'http:'],
  ['certificate_refused', /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/i],
  ['connection_refused', /ECONNREFUSED/],
  ['name_not_found', /ENOTFOUND|EAI_AGAIN/],
  ['host_unreachable', /UNREACH|EADDRNOTAVAIL|ENETDOWN/],
  ['timed_out', /timed?[ _-]?out|abort/i],
  ['connection_reset', /ECONNRESET|EPIPE|hang up|UND_ERR_SOCKET|other side closed|terminated/i],
];

type Seen = ReturnType<typeof seenIn>;

const isSuccess = ({ status }: Seen): boolean => status >= 200 && status < 300;
const isRefusal = ({ status }: Seen): boolean => [400, 401, 403, 422].includes(status);

/** The responses of every adapter are constant, so their bodies are evidence. */
const OWN = 'This is the constant response of paymentCallbacks().';
const isOwnRefusal = ({ status, own }: Seen): boolean => status === 401 && own === 'unauthorized';
const signedWith = ({ keyName }: Seen): string => `The callback was signed with ${keyName}.`;

function mentioned(text: string): string {
  const [word] = /log[-_ ]?in|sign[-_ ]?in|session|credentials?|bearer|jwt|password|access/i.exec(text) ?? [];
  return word === undefined
    ? 'Nothing in the response says what refused it.'
    : `The body mentions "${word}".`;
}

/** Outcomes that need more than the status. The first one that returns a detail applies. */
const ANSWERS: { readonly [Cause in OutcomeCause]?: (seen: Seen) => string | false | undefined } = {
  body_consumed: ({ own }) => own === 'body_consumed' && OWN,
  handler_timeout: ({ own }) => own === 'handler_timeout' && OWN,
  handler_unavailable: ({ own }) => own === 'unavailable' && OWN,
  handler_failed: ({ own }) => own === 'handler_failed' && OWN,
  plain_to_tls_port: ({ text }) =>
    /HTTP request.{0,20} HTTPS (server|port)/i.test(text) && 'The body reports HTTP on an HTTPS port.',
  login_redirect: ({ target }) =>
    target && /log-?_?in|sign-?_?in|auth|sso/i.test(target.pathname) && to(target),
  https_redirect: ({ target, url }) =>
    target?.protocol === 'https:' && url?.protocol === 'http:' && to(target),
  slash_redirect: ({ target, url }) => target && url && bare(target) === bare(url) && to(target),
  redirected: ({ target }) => target && to(target),
  near_path: (seen) => seen.status === 404 && nearest(seen),
  login_required: ({ status, header }) => status === 401 && challenge(header('www-authenticate')),
  csrf_guard: (seen) =>
    (isRefusal(seen) || seen.status === 419) &&
    /csrf|xsrf|cross-site|forgery/i.test(seen.text) &&
    'The body mentions CSRF.',
  forgery_refused: (seen) => isRefusal(seen) && seen.badSignature,
  old_timestamp_refused: (seen) => isRefusal(seen) && seen.isOld && 't is more than 30 s from the clock.',
  header_dropped: (seen) => isOwnRefusal(seen) && seen.proxy && `${seen.proxy} ${signedWith(seen)}`,
  other_key: (seen) => isOwnRefusal(seen) && `${OWN} ${signedWith(seen)}`,
  refused_signature: (seen) =>
    isRefusal(seen) && /signature|hmac/i.test(seen.text) && `The body mentions it. ${signedWith(seen)}`,
  unauthorized: (seen) => seen.status === 401 && `${mentioned(seen.text)} ${signedWith(seen)}`,
  html_answer: (seen) =>
    isSuccess(seen) &&
    (/^\s*<(!doctype|html)/i.test(seen.text) || /html/i.test(seen.header('content-type'))) &&
    'The body is HTML.',
  verification_off: (seen) => isSuccess(seen) && seen.badSignature,
  old_timestamp_accepted: (seen) => isSuccess(seen) && seen.forged === 'timestamp' && 't was changed.',
  forgery_accepted: (seen) => isSuccess(seen) && seen.forged && `The ${seen.forged} was forged.`,
  accepted: (seen) => isSuccess(seen) && 'The signature is valid.',
};

const STATUSES: Readonly<Record<number, OutcomeCause>> = {
  403: 'forbidden',
  404: 'not_found',
  405: 'method_refused',
  408: 'body_timeout',
  410: 'not_found',
  413: 'body_refused',
  415: 'media_type_refused',
  429: 'asked_to_retry',
  502: 'gateway_failed',
  503: 'unavailable',
  504: 'gateway_failed',
};

function pageAbout(seen: Seen): Parameters<typeof wordsOf>[1] {
  if (isSuccess(seen)) return 'accepted';
  if (seen.status === 401) return 'refused';
  return seen.status >= 400 && seen.status < 500 ? 'answered' : 'delivery';
}

const TONES: { readonly [Cause in OutcomeCause]?: Outcome['tone'] } = {
  accepted: 'good',
  forgery_refused: 'good',
  forgery_accepted: 'neutral',
  old_timestamp_refused: 'neutral',
  old_timestamp_accepted: 'neutral',
};

/**
 * Explains the outcome of a delivery and what to do, for a sender such as the sandbox. The first matching row of one table
 * decides. Total, like `explain()`.
 *
 * @param keys The key that signed, to tell a valid signature from an invalid one. Without it, `isForged` decides.
 * @throws {ConfigurationError} When an option is invalid.
 *
 * @example
 * explainOutcome({ request: { url, headers, body }, error: 'ECONNREFUSED' }).title; // 'Nothing listens at this address.'
 */
export function explainOutcome(
  exchange: Exchange,
  keys?: ExplainKeys,
  options: ExplainOptions = {},
): Outcome {
  checkOptions('explainOutcome()', exchange, EXCHANGE_RULES);
  if (keys !== undefined) checkArgument('explainOutcome()', 'keys', keys, KEYS);
  checkArgument('explainOutcome()', 'options', options, RECORD);
  const seen = seenIn(exchange, keys, options);
  const [cause, detail] = seen.error === '' ? answerIn(seen) : errorIn(seen);
  const tone = TONES[cause] ?? 'bad';
  const after = exchange.durationMs === undefined ? '' : ` It took ${Math.round(exchange.durationMs)} ms.`;
  const words = wordsOf(OUTCOMES[cause].replace('{status}', String(seen.status)), pageAbout(seen));
  return Object.freeze({ ok: tone !== 'bad', cause, tone, detail: detail + after, ...words });
}

const EXCHANGE_RULES: OptionRules<Exchange> = {
  request: [EXPLAINED[0], EXPLAINED[1], true],
  response: [
    (response) => EXPLAINED[0](response) && typeof Object(response).status === 'number',
    '{ status, headers, body }',
  ],
  error: STRING,
  durationMs: [(value) => typeof value === 'number', 'a number of milliseconds'],
  knownPaths: [
    (paths) => Array.isArray(paths) && paths.every((path) => typeof path === 'string'),
    'a list of paths',
  ],
};

function errorIn({ error, url }: Seen): [OutcomeCause, detail: string] {
  // Node's TLS servers answer plain HTTP only by closing the connection. Ports that end in 443 are usually TLS.
  const isTls = url?.protocol === 'http:' && url.port.endsWith('443') && /ECONNRESET|hang up/.test(error);
  const isMeant = ([, pattern, only = url?.protocol]: (typeof ERRORS)[number]): boolean =>
    pattern.test(error) && only === url?.protocol;
  const [found = 'connection_failed'] = ERRORS.find(isMeant) ?? [];
  const code = /\b[A-Z][A-Z_]{3,30}\b/.exec(error)?.[0] ?? 'no code';
  return [isTls ? 'plain_to_tls_port' : found, `${url?.host ?? 'The address'}: ${code}.`];
}

function answerIn(seen: Seen): [OutcomeCause, detail: string] {
  const { status, header } = seen;
  const answered = status === 0 ? 'There is no response.' : `It returned ${status}.`;
  for (const [cause, test] of Object.entries(ANSWERS)) {
    const detail = test(seen);
    if (detail) return [cause as OutcomeCause, `${answered} ${detail}`];
  }
  const general = status >= 500 ? 'handler_failed' : status >= 400 ? 'request_refused' : 'unexpected_status';
  const hints = ['allow', 'retry-after'].filter((name) => header(name) !== '');
  const shown = hints.map((name) => ` ${name}: ${printable(header(name))}.`).join('');
  return [STATUSES[status] ?? general, answered + shown];
}

/** The facts that the tests above use. */
function seenIn(exchange: Exchange, keys: ExplainKeys | undefined, options: ExplainOptions) {
  const { request, response, error = '', knownPaths = ['/payments/callbacks'] } = exchange;
  const { isForged: forged, headers: sent, body } = request;
  const { headers, text = '' } = readFacts(response ?? { headers: {} });
  // Without a tolerance: the age of t is an outcome of its own.
  const why = keys && explain({ headers: sent, body }, keys, { ...options, toleranceSeconds: undefined });
  const forgery = forged === 'signature' ? 'The signature was forged.' : undefined;
  const [signature] = looseSignatures(readFacts({ headers: sent }).headers.get('hmac-signature') ?? '');
  const { ageSeconds = 0 } = readTimestamp(signature?.t ?? '', (options.now ?? Date.now)());
  const [key] = namedKeys(keys?.signingKey);
  const url = parsed(request.url);
  const status = response?.status ?? 0;
  const location = headers.get('location');
  return {
    error,
    status,
    header: (name: string): string => headers.get(name) ?? '',
    text,
    /** The name of the error, if the response is one of the adapters' constant responses. */
    own: /^\{"error":"([a-z_]{1,30})"\}$/.exec(text)?.[1],
    proxy: proxyIn(headers),
    url,
    /** Where a redirect leads. */
    target: status >= 300 && status < 400 && location ? parsed(location, url?.href) : undefined,
    /** Why the request should be refused; undefined if its signature is valid. */
    badSignature: why === undefined || why.ok ? forgery : why.title,
    keyName: key === undefined ? "the account's key" : keyName(key.id, key.key),
    forged,
    isOld: forged === 'timestamp' || Math.abs(ageSeconds) > 30,
    knownPaths,
  };
}

const parsed = (text: string, base?: string): URL | undefined =>
  URL.canParse(text, base) ? new URL(text, base) : undefined;
const to = ({ origin, pathname }: URL): string => `It leads to ${printable(origin + pathname)}.`;
const bare = ({ host, pathname }: URL): string => host + pathname.replace(/\/$/, '');

function challenge(header: string): string | undefined {
  const [scheme] = /^[a-z][\w-]{0,30}/i.exec(header) ?? [];
  return scheme && `www-authenticate asks for ${scheme}.`;
}

/** Evidence in a response that it came through a proxy. */
function proxyIn(headers: ReadonlyMap<string, string>): string | undefined {
  const name = ['via', 'x-cache', 'cf-ray', 'x-amz-cf-id'].find((one) => headers.has(one));
  if (name !== undefined) return `The ${name} header shows a proxy.`;
  const [server] =
    /nginx|envoy|caddy|haproxy|varnish|cloudflare|apache/i.exec(headers.get('server') ?? '') ?? [];
  return server && `The server header names ${server}.`;
}

/** Text from the endpoint, shortened and on one line. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '').slice(0, 80);

function nearest({ url, knownPaths }: Seen): string | undefined {
  const path = url?.pathname ?? '';
  const near = knownPaths.find(
    (known) =>
      known !== path &&
      (known.startsWith(path) ||
        known.endsWith(path) ||
        path.endsWith(known) ||
        distance(path, known) <= known.length / 3),
  );
  return near && `The path is ${printable(path)}; ${printable(near)} is known.`;
}

import { documentation } from '../errors.ts';
import { SIGNED_NAMES } from '../verify/signed-fields.ts';

const MESSAGE = SIGNED_NAMES.join(':');
const RIGHT_KEY = 'Use the signing key, which the dashboard shows under the account details.';
const SIGNS = `The service signs ${MESSAGE}`;
/** The service never does this, so a test program or something in transit did. */
const SENDER = 'Find out what changed it in transit, or correct the program that sent it.';
const SIGNER = `${SIGNS}. Your test programs can use signCallback(); refuse everyone else.`;

/**
 * The receiver's message for every reason. The first sentence is the title and states what was found; the rest is the fix.
 * Anything that does not follow from the request is called probable.
 */
export const REASONS = {
  verified: 'The callback verifies. Compare the amount with assertAmount() before you credit it.',
  method_wrong:
    'The request is not a POST, the only method that a route accepts unless you set methods. Give the sender the final address: 301 and 302 turn a POST into a GET. For browser redirects, use paymentRedirects().',
  body_too_large:
    'The body is larger than 64 KiB. A callback is about 600 bytes: find out what sent this one.',
  encoding_unsupported:
    'A route cannot read the Content-Encoding of this body. Turn it off in the proxy, or use gzip or deflate.',
  signature_missing:
    'The request has no signature. It is probably not from the service, or something in transit dropped the hmac-signature header.',
  signature_dropped:
    'The request came through a proxy and has no signature. Probably the proxy dropped the hmac-signature header: configure it to pass that header through.',
  signature_renamed: 'The signature is under another name. Pass it through as the hmac-signature header.',
  signature_repeated:
    'The hmac-signature header was repeated. Look for a proxy that adds it again: it must arrive only once.',
  signature_truncated:
    'The signature was cut off. Look for a length limit on headers or database columns in transit.',
  signature_percent_encoded: `The signature is percent-encoded. Header values are not. ${SENDER}`,
  signature_malformed: `The signature is malformed. It must be t=<timestamp>,s=<64 lower-case hex digits>. ${SENDER}`,
  uppercase_hex: `The hash is written in upper-case hex. The service writes it in lower case, as digest("hex") does. ${SENDER}`,
  base64_digest: `The hash is written in Base64. The service writes it in hex, as digest("hex") does. ${SENDER}`,
  body_consumed: 'The body was already consumed. Mount paymentCallbacks() first, or pass the parsed body.',
  body_html:
    'The body is an HTML page. It is not from the service: look for a proxy or a test tool that sends it.',
  body_form: `The body is form-encoded. A callback is JSON. ${SENDER}`,
  body_truncated:
    'The body was cut off. Look for a size limit in transit, or a Content-Length that counts characters.',
  body_not_json: `The body is not a JSON object. A callback is one, with event and payload, in UTF-8. ${SENDER}`,
  name_repeated: `A signed name appears twice in the body. It must appear only once, since parsers may read either value. ${SENDER}`,
  field_missing: `A signed field is missing. event belongs at the top level, and the other four in payload. ${SENDER}`,
  field_not_string: `A signed field is not a well-formed string. It must be one: null and "" share a signature, and so do 1 and "1". ${SENDER}`,
  colon:
    "A signed field contains ':', which separates the signed fields. Use references without ':', or set colonIn to the one field that may contain it, and isMerchantReference where customers influence it.",
  raw_body_signed: `The sender signed the body. ${SIGNER}`,
  timestamp_signed: `The sender signed t as well. ${SIGNER}`,
  field_changed:
    'A signed field was changed after signing. Pass the body through unchanged; if nothing of yours changes it, refuse the callback.',
  expired_key:
    'The key that signed this has expired. The sender still uses it: raise notAfter until it uses the new one.',
  other_key:
    'This was signed with another of your keys. Set signingKey to the key of the account that sends this.',
  key_white_space: 'The key has white space or quotation marks around it. Trim it where it is read.',
  key_unset:
    'The sender signed without a key. It is a test program whose variable is unset: set it there, and never accept such a callback.',
  public_key: `The public key is used as the signing key. ${RIGHT_KEY}`,
  secret_key: `The secret key is used as the signing key. ${RIGHT_KEY}`,
  key_encoded:
    'The configured signing key is an encoding of the right one. Use the key as the dashboard shows it, without encoding it.',
  key_decoded:
    'The key was decoded before signing. Its characters are the bytes: use it without decoding, at the sender and here.',
  key_invalid: 'The configured signing key is not a valid key. Copy it from the dashboard again.',
  unknown_key:
    'No known mistake explains this signature. Probably another account signed this: compare the last four characters of signingKey with the dashboard of the account that sends this; sandbox and production have different keys. Or a signed field was changed, or it is a forgery.',
  timestamp_unit:
    'The timestamp is in another unit. The verifier reads whole seconds and milliseconds since 1970; turn toleranceSeconds off to accept it, since t is not signed.',
  timestamp_old:
    'The timestamp is older than toleranceSeconds. Check the clocks. A retry that keeps its first t is genuine: turn toleranceSeconds off to accept it, since t is not signed.',
  timestamp_ahead:
    'The timestamp is in the future. Check the clock of this machine, and that of the sender, which must count from UTC.',
};

/** Why a callback was refused, as a stable code. */
export type Cause = keyof typeof REASONS;

/** The sender's message for every outcome of a delivery. */
export const OUTCOMES = {
  tls_to_plain_port: 'The address says https, but the port speaks plain HTTP. Use http://, or set up TLS.',
  plain_to_tls_port: 'The address says http, but the port speaks TLS. Use https:// in the callback URL.',
  certificate_refused:
    'The certificate was refused. During development, use http:// on this computer, or start the sender with NODE_EXTRA_CA_CERTS=<file of the certificate>. In production, install a certificate of a known authority.',
  connection_refused: 'Nothing listens at this address. Start the program, and check host and port.',
  name_not_found: 'The host name does not exist. Check its spelling and its DNS record.',
  host_unreachable: 'The host cannot be reached. Check the address, the network and the firewall.',
  timed_out: 'The endpoint did not respond in time. Store the callback, return 200, then do slow work.',
  connection_reset:
    'The connection broke before the response. Probably the program crashed (look at its output), the port speaks TLS (try https://), or a proxy ended it.',
  connection_failed: 'The delivery failed. Look up the error code.',
  login_redirect:
    'The response redirects to a login page. Exempt the callback route: its signature is its authentication.',
  https_redirect: 'The address redirects to https. Set the callback URL to it: redirects are not followed.',
  slash_redirect: 'A trailing slash causes a redirect. Set the callback URL to the final address.',
  redirected: 'The endpoint redirects. Set the callback URL to the final address.',
  near_path:
    'There is no route for POST at this path, but a similar path is known. Probably the callback URL is misspelled: correct it, or mount paymentCallbacks() there with app.use() or app.post().',
  not_found:
    'There is no route for POST at this path. Mount paymentCallbacks() there with app.use() or app.post(), or correct the callback URL.',
  method_refused: 'The route does not accept POST. Mount it with app.post() or app.use().',
  body_timeout: 'The endpoint waited for the rest of the body. Check Content-Length, and earlier parsers.',
  body_refused: 'The endpoint refuses the body as too large. Raise its limit to 64 KiB.',
  media_type_refused: 'The endpoint refuses the content type. Accept every type: the protocol shows none.',
  body_consumed:
    'Other middleware consumed the body before the route. Mount paymentCallbacks() before it, or use a JSON body parser.',
  handler_timeout:
    'The handler did not settle in time. Store the callback, let the handler return, then do slow work.',
  handler_unavailable:
    'The handler could not store the callback, and asked for a retry. Restore its storage, such as the database.',
  asked_to_retry:
    'The endpoint asked for a retry. Look at its log: probably a rate limit, or an error in its handler.',
  login_required: 'The endpoint asks for a login. Exempt the callback route: its signature authenticates it.',
  csrf_guard: 'A guard against cross-site requests refuses the callback. Exempt the callback route from it.',
  forgery_refused: 'The bad signature was refused, as expected. Nothing to fix.',
  old_timestamp_refused:
    'A callback with an old timestamp was refused. Probably by toleranceSeconds, which also loses a retry that keeps its first t.',
  other_key:
    'paymentCallbacks() refused a valid signature. Probably the endpoint has another signing key: compare the last four characters and restart it. Otherwise something in transit dropped hmac-signature or changed the body: pass explainRefusals() as onRefused to see which.',
  header_dropped:
    'paymentCallbacks() refused a valid signature that came through a proxy. Probably the proxy drops the hmac-signature header: configure it to pass that header through. If it does, compare the signing keys: pass explainRefusals() as onRefused to see which it is.',
  refused_signature:
    'The endpoint refuses a valid signature. Probably it has another signing key, or signs something else: compare the last four characters, and verify with paymentCallbacks().',
  unauthorized:
    'The endpoint returned 401, but not from paymentCallbacks(). Probably a login or a gateway before the route refused it: exempt the callback route. If the endpoint verifies by other means, compare its signing key.',
  forbidden: 'The endpoint forbids the request. Look for a firewall, or middleware before the route.',
  request_refused: 'The endpoint refuses the request. Look at its log: a validator or parser may refuse it.',
  gateway_failed: 'A proxy responded, but the program behind it did not. Start it, and check the proxy.',
  unavailable: 'The endpoint is unavailable. Retry later; look for maintenance, or a database that is down.',
  handler_failed: 'Your endpoint returned {status}. Look at its log for the error at this time.',
  html_answer:
    'The response is a web page, not that of a callback route. Check the path, and mount paymentCallbacks() before the web app: probably the app handles every path.',
  verification_off:
    'A bad signature was ACCEPTED: verification is off. Verify before anything else: now every sender can report a payment.',
  forgery_accepted:
    'Accepted, as expected: the signature is valid, and it does not cover amounts. Make sure that nothing was credited: compare amounts with assertAmount(). An inbox holds such a payment.',
  old_timestamp_accepted:
    'Accepted, as expected: the signature is valid, and it does not cover t. Make sure that a repeated callback changes nothing: deduplicate by transitionId.',
  accepted: 'The callback was accepted. Nothing to fix.',
  unexpected_status: 'This is neither success nor refusal. Answer 200 when the callback is stored.',
};

/** The outcome of a delivery, as a stable code. */
export type OutcomeCause = keyof typeof OUTCOMES;

/** What `explain()` found. Contains no key, header or body, so it can be logged. */
export interface Explanation {
  /** Whether the callback verifies. */
  readonly ok: boolean;
  readonly cause: Cause;
  /** One sentence. */
  readonly title: string;
  /** The evidence in this input, with names and positions. A key is named by its id and its last four characters. */
  readonly detail: string;
  /** What to do next. */
  readonly fix: string;
  /** The address of the page about such refusals or failures. */
  readonly docs: string;
}

const PAGES = {
  refusal: 'guide/refused.md',
  delivery: 'troubleshooting.md#no-callback-arrives',
  refused: 'troubleshooting.md#a-callback-is-refused-with-401',
  answered: 'troubleshooting.md#a-callback-is-answered-with-4xx',
  accepted: 'troubleshooting.md#a-callback-is-accepted-and-nothing-is-credited',
} as const;

/** Splits a message from the tables above, and adds the page about it. */
export function wordsOf(
  message: string,
  subject: keyof typeof PAGES,
): Pick<Explanation, 'title' | 'fix' | 'docs'> {
  const end = message.indexOf('. ') + 1;
  return { title: message.slice(0, end), fix: message.slice(end + 1), docs: documentation(PAGES[subject]) };
}

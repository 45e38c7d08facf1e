import { SIGNED_NAMES } from '../verify/signed-fields.ts';

const MESSAGE = SIGNED_NAMES.join(':');
const RIGHT_KEY = 'Use the signing key, which the dashboard shows under the account details.';

/** The words of every reason: the first sentence is the title, the rest is the fix. */
export const REASONS = {
  verified: 'The callback verifies. Compare the amount with confirmAmount() before you credit it.',
  method_wrong:
    'A callback is a POST. Send it to the final address: 301 and 302 turn a POST into a GET. For redirects of the browser, use paymentRedirects().',
  body_too_large: 'The body has more than 64 KiB. Check what sends this: a callback has about 600 bytes.',
  signature_missing: 'The request has no signature. Check that the sender sets the header hmac-signature.',
  signature_dropped: 'A proxy dropped the header hmac-signature. Configure it to pass that header through.',
  signature_renamed: 'The signature has another name. Send and forward it as the header hmac-signature.',
  signature_repeated: 'The header hmac-signature was repeated. Send it once: a proxy may add it again.',
  signature_truncated: 'The signature was cut off. Check the length limits of headers and database columns.',
  signature_percent_encoded: 'The signature is percent-encoded. Do not encode the value of a header.',
  signature_malformed: 'The signature is malformed. Write only t=<timestamp>,s=<64 lower-case hex digits>.',
  uppercase_hex: 'The hash is written in upper-case hex. Write it in lower case, as digest("hex") does.',
  base64_digest: 'The hash is written in Base64. Write it in hex, as digest("hex") does.',
  body_consumed: 'The body was already consumed. Mount paymentCallbacks() first, or pass the parsed body.',
  body_html: 'The body is an HTML page. Check what sends this: a proxy or a test tool, not the service.',
  body_form: 'The body is form-encoded. Send the callback as JSON.',
  body_truncated: 'The body was cut off. Look for a size limit, or a Content-Length that counts characters.',
  body_not_json: 'The body is not a JSON object. Send an object with event and payload, as UTF-8.',
  double_encoded: 'The callback is JSON inside a JSON string. Serialise it once, with payload as an object.',
  name_repeated: 'A signed name appears twice in the body. Write it once: parsers may read either value.',
  payload_flat: 'The payload fields are at the top level. Nest all but event in the object payload.',
  event_nested: 'The event is inside payload. Write event at the top level, beside payload.',
  field_renamed: 'A member has another name. Use the name that the protocol gives it.',
  field_missing: 'A signed field is missing. Send event at the top level, and the other four in payload.',
  field_null: 'A signed field is null. Send a string: null, undefined and "" would share a signature.',
  field_not_string: 'A signed field is not a well-formed string. Send a string: 1 and "1" share a signature.',
  colon:
    "A signed field contains ':', which separates the signed fields. Use references without ':', or set colonIn to the one field that may contain it, and isMerchantReference where customers influence it.",
  raw_body_signed: `The sender signed the body. Sign ${MESSAGE} instead.`,
  timestamp_signed: `The sender signed t as well. Sign ${MESSAGE} alone.`,
  field_order: `The fields were signed in another order. Sign ${MESSAGE}.`,
  fields_joined: `The fields were joined in another way. Sign ${MESSAGE}.`,
  field_changed: 'A signed field was changed after signing. Pass the body through unchanged.',
  plain_hash: 'The hash is a plain SHA-256. Compute HMAC-SHA256, as createHmac("sha256", key) does.',
  expired_key: 'The key that signed this has expired. Let the sender use the current key, or raise notAfter.',
  other_key: 'Another key of yours signed this. Set signingKey to the key of the account that sends this.',
  key_white_space: 'The key has white space or quotation marks around it. Trim it where it is read.',
  key_unset: 'The sender signed without a key. Set the key at the sender: its variable is unset.',
  public_key: `The public key is used as the signing key. ${RIGHT_KEY}`,
  secret_key: `The secret key is used as the signing key. ${RIGHT_KEY}`,
  key_decoded: 'The key was decoded before signing. Use its characters as bytes, without decoding.',
  key_invalid: 'The configured signing key cannot be one. Copy it from the dashboard again.',
  unknown_key:
    'No hypothesis fits: most likely the key of another account signed this. Compare the last four characters of signingKey with the dashboard of the account that sends this; sandbox and production have different keys.',
  timestamp_unit: 'The timestamp is in another unit. Write t as whole seconds or milliseconds since 1970.',
  clock_unit: 'The option now has another unit. Return milliseconds since 1970, as Date.now() does.',
  timestamp_old:
    'The timestamp is older than toleranceSeconds. Check the clocks. A retry that keeps its first t is genuine: turn toleranceSeconds off to accept it, since t is not signed.',
  timestamp_ahead: 'The timestamp is in the future. Check the clocks, and compute t from UTC.',
};

/** Why a callback was refused, as a stable code. */
export type Cause = keyof typeof REASONS;

/** The same for what became of a delivery. */
export const OUTCOMES = {
  tls_to_plain_port: 'The address says https, and the port speaks plain HTTP. Use http://, or set up TLS.',
  plain_to_tls_port: 'The address says http, and the port speaks TLS. Use https://.',
  certificate_refused: 'The certificate was refused. Install one that a known authority signed for it.',
  connection_refused: 'Nothing listens at this address. Start the program, and check host and port.',
  name_not_found: 'The host name does not exist. Check its spelling and its DNS record.',
  host_unreachable: 'The host cannot be reached. Check the address, the network and the firewall.',
  timed_out: 'The endpoint did not answer in time. Store the callback, answer 200, then do slow work.',
  connection_reset: 'The connection broke before the answer. Look for a crash, or a proxy that ends it.',
  connection_failed: 'The delivery failed. Look up the code of the error.',
  login_redirect: 'A login page answers. Exempt the callback route: its signature is its authentication.',
  https_redirect: 'The address redirects to https. Set the callback URL to it: redirects are not followed.',
  slash_redirect: 'A slash at the end causes a redirect. Set the callback URL to the final address.',
  redirected: 'The endpoint redirects. Set the callback URL to the final address.',
  near_path: 'There is no route at this path, and a similar one is known. Correct the callback URL.',
  not_found: 'There is no route at this path. Mount paymentCallbacks() there, or correct the callback URL.',
  method_refused: 'The route does not take POST. Mount it with app.post() or app.use().',
  body_timeout: 'The endpoint waited for the rest of the body. Check Content-Length, and earlier parsers.',
  body_refused: 'The endpoint finds the body too large. Raise its limit to 64 KiB.',
  media_type_refused: 'The endpoint refuses the content type. Accept every type: the protocol shows none.',
  asked_to_retry:
    'The endpoint asks to send the callback again. Look for an error of its handler, which the adapters answer so, or for a rate limit.',
  login_required: 'The endpoint asks for a login. Exempt the callback route: its signature authenticates it.',
  csrf_guard: 'A guard against cross-site requests refuses the callback. Exempt the callback route from it.',
  forgery_refused: 'The bad signature was refused, as it must be. Nothing to fix.',
  old_timestamp_refused:
    'The old timestamp was refused. That is what toleranceSeconds does; it also loses a retry that keeps its first t.',
  other_key:
    'The signature is right, and the endpoint has another signing key. Compare its last four characters with those of the endpoint, and restart it.',
  forbidden: 'The endpoint forbids the request. Look for a firewall, or middleware before the route.',
  request_refused: 'The endpoint refuses the request. Look at its log: a validator or parser may refuse it.',
  gateway_failed: 'A proxy answers, and the program behind it does not. Start it, and check the proxy.',
  unavailable: 'The endpoint is unavailable. Retry later; look for maintenance, or a database that is down.',
  handler_failed: 'The program failed. Look at its log for the error at this time.',
  html_answer: 'A web page answers, not a callback route. Check the path: a web app may answer every one.',
  verification_off:
    'A bad signature was ACCEPTED: verification is off. Verify before anything else: now every sender can report a payment.',
  forgery_accepted:
    'Accepted, as it must be: the signature fits, and it does not cover amounts. Make sure that nothing was credited: compare amounts with confirmAmount().',
  accepted: 'The callback was accepted. Nothing to fix.',
  unexpected_status: 'This is neither success nor refusal. Answer 200 when the callback is stored.',
};

/** What became of a delivery, as a stable code. */
export type OutcomeCause = keyof typeof OUTCOMES;

/** What `explain()` found. Holds no key, no header and no body: it can be logged. */
export interface Explanation {
  /** Whether the callback verifies. */
  readonly ok: boolean;
  readonly cause: Cause;
  /** One sentence. */
  readonly title: string;
  /** What in this input shows it, with names and positions. A key is named by its id and its last four characters. */
  readonly detail: string;
  /** What to do next. */
  readonly fix: string;
}

export function titleAndFix(words: string): Pick<Explanation, 'title' | 'fix'> {
  const end = words.indexOf('. ') + 1;
  return { title: words.slice(0, end), fix: words.slice(end + 1) };
}

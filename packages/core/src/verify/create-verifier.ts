import { equalHex, hmacHex } from '#digest';
import { ConfigurationError } from '../errors.ts';
import { type CallbackBody, ownValue, readCallbackBody } from './callback-body.ts';
import { type RedirectFields, readRedirectQuery, redirectNames } from './redirect-query.ts';
import { type Refusal, type RefusalCode, refuse, refuseAuthentic } from './refusal.ts';
import { parseSignature, type Signature } from './signature.ts';
import {
  type ColonField,
  isAmbiguous,
  readSignedFields,
  type SignedFields,
  signedText,
  transitionId,
} from './signed-fields.ts';
import { type PreparedKey, prepareSigningKeys, type SigningKey } from './signing-keys.ts';
import { readTimestamp, type Timestamp } from './timestamp.ts';
import { readUnsignedFields } from './unsigned-fields.ts';
import { Evidence, type Findings, VerifiedCallback, VerifiedRedirect } from './verified.ts';

/** Options of `createVerifier()`. There is none that turns verification off. */
export interface VerifierOptions {
  /**
   * The account's key for callback and redirect signatures (protocol §1), or up to four of them for rotation.
   * `undefined` compiles, so that `process.env.SIGNING_KEY` can be given as it is, and throws at construction.
   */
  readonly signingKey: string | readonly SigningKey[] | undefined;
  /**
   * Refuse when `t` lies further than this many seconds from the clock, before or after. Off unless set; the service
   * recommends 30. Since `t` is not signed this is no protection against replay, and a retry that keeps its first `t`
   * is lost by it.
   */
  readonly toleranceSeconds?: number | undefined;
  /** The one signed field that may hold ':'. None by default, since the fields are joined with it. */
  readonly colonIn?: ColonField | undefined;
  /** Other parameter names in redirects, whose wire form is not shown. */
  readonly redirectFields?: RedirectFields | undefined;
  /** A label of the merchant account, part of every transition id. For several accounts in one database. */
  readonly account?: string | undefined;
  /** When given, a signing key equal to it is refused at construction. */
  readonly publicKey?: string | undefined;
  /** When given, a signing key equal to it is refused at construction. */
  readonly secretKey?: string | undefined;
  /** The clock, in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** Verifies callbacks and redirects. Total: hostile input makes a refusal, never an exception. */
export interface Verifier {
  /**
   * Verifies a callback (protocol §5.2).
   *
   * @param callback.signature the value of the header `hmac-signature`.
   * @param callback.body the raw bytes, their text, or the object that a body parser made: fields are signed, not bytes.
   */
  verifyCallback(callback: {
    readonly signature: string | readonly string[] | null | undefined;
    readonly body: CallbackBody | null | undefined;
  }): VerifiedCallback | Refusal;
  /**
   * Verifies a redirect (protocol §5.2). The result is a hint for the page that the customer sees.
   *
   * @param rawQuery the query as it came, undecoded; a path or URL that holds it; or what the runtime parsed.
   * @param options.expectReference the merchant_reference of the customer's own session: any other is
   * refused, and so is every redirect when the session has none (`undefined`).
   */
  verifyRedirect(
    rawQuery: string | URLSearchParams | URL,
    options?: { readonly expectReference?: string | undefined },
  ): VerifiedRedirect | Refusal;
}

/**
 * Makes a verifier for one merchant account.
 *
 * The signature covers five strings and nothing else (protocol §5.2): not the amount, not the timestamp. So the
 * result keeps `signed` and `unsigned` apart, and money is compared with `confirmAmount()`.
 *
 * @throws {ConfigurationError} that names the option, when a key is missing, empty, holds white space, is `undefined`
 * or `null` as text, is the public or secret key, or another option has no sense.
 *
 * @example
 * const verifier = createVerifier({ signingKey: process.env.SIGNING_KEY });
 * const result = verifier.verifyCallback({ signature: request.headers['hmac-signature'], body });
 * if (result.ok) console.log(result.signed.merchant_reference, result.signed.transaction_status);
 * else console.warn(result.code, result.hint);
 */
export function createVerifier(options: VerifierOptions): Verifier {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('signingKey', 'createVerifier needs an object: { signingKey }.');
  }
  const keys = prepareSigningKeys(options.signingKey, options);
  const names = redirectNames(options.redirectFields);
  const { toleranceSeconds, colonIn, account = '', now = Date.now } = options;
  checkOptions({ toleranceSeconds, colonIn, account, now });

  /** The rules that follow the fields, the same on both channels: which key, then ':' and the tolerance. */
  function judge(signed: SignedFields, { t, s }: Signature): Judgement {
    const at = now();
    const text = signedText(signed);
    const fitting = matchingKeys(keys, text, s);
    const valid = fitting.find(({ notAfter }) => at <= notAfter);
    if (valid === undefined) return { code: fitting.length > 0 ? 'key_expired' : 'mismatch' };
    const timestamp = readTimestamp(t, at);
    const broken = isAmbiguous(signed, colonIn) ? 'ambiguous' : timestampRule(timestamp, toleranceSeconds);
    return { code: broken, keyId: valid.id, timestamp: Object.freeze(timestamp) };
  }

  return Object.freeze({
    verifyCallback({ signature: value, body }: { signature: unknown; body: unknown }) {
      const signature = readSignature(value);
      if (typeof signature === 'string') return refuse(signature);
      const read = readCallbackBody(body);
      if (read === undefined) return refuse('body_malformed');
      const { data, payload, text, repeatsSignedName } = read;
      // A repeated name is malformed whatever the signature says (threat A17); the last reading only tells whether it fits.
      const repeated = repeatsSignedName ? 'body_malformed' : undefined;
      const signed = readSignedFields((name) => ownValue(name === 'event' ? data : payload, name));
      if (signed === undefined) return refuse(repeated ?? 'signed_field_malformed');
      const judgement = judge(signed, signature);
      if (judgement.keyId === undefined) return refuse(repeated ?? judgement.code);
      const code = repeated ?? judgement.code;
      const findings = {
        ...found(judgement, signed, account),
        unsigned: readUnsignedFields((name) => ownValue(payload, name)),
        raw: data as Record<string, unknown>,
        text,
      };
      return code === undefined
        ? new VerifiedCallback(findings)
        : refuseAuthentic(code, new Evidence(findings));
    },

    verifyRedirect(rawQuery: unknown, options: { expectReference?: string | undefined } = {}) {
      const query = readRedirectQuery(rawQuery, names);
      if (query === undefined) return refuse('query_malformed');
      const { fields, raw } = query;
      const signature = readSignature(fields.get('hmac_signature'));
      if (typeof signature === 'string') return refuse(signature);
      const signed = readSignedFields((name) => fields.get(name));
      if (signed === undefined) return refuse('signed_field_malformed');
      const judgement = judge(signed, signature);
      if (judgement.keyId === undefined) return refuse(judgement.code);
      // Named and undefined is a session without a reference: that one expects no redirect at all.
      const isOther = 'expectReference' in options && signed.merchant_reference !== options.expectReference;
      const code = judgement.code ?? (isOther ? 'reference_unexpected' : undefined);
      const unsigned = readUnsignedFields((name) => fields.get(name));
      const findings = { ...found(judgement, signed, account), unsigned, raw };
      return code === undefined
        ? new VerifiedRedirect(findings)
        : refuseAuthentic(code, new Evidence(findings));
    },
  });
}

type Judgement =
  | { code: RefusalCode; keyId?: never; timestamp?: never }
  | { code: RefusalCode | undefined; keyId: string; timestamp: Timestamp };

function readSignature(value: unknown): Signature | 'signature_missing' | 'signature_malformed' {
  if (value === undefined || value === null || value === '') return 'signature_missing';
  return parseSignature(value) ?? 'signature_malformed';
}

/** Every key is tried, whatever the earlier ones said: the time taken does not tell which one fits. */
function matchingKeys(keys: readonly PreparedKey[], text: string, hash: string): PreparedKey[] {
  return keys.filter(({ digestKey }) => equalHex(hmacHex(digestKey, text), hash));
}

function timestampRule(timestamp: Timestamp, tolerance: number | undefined): RefusalCode | undefined {
  if (tolerance === undefined) return undefined;
  if (timestamp.ageSeconds === undefined) return 'timestamp_unreadable';
  return Math.abs(timestamp.ageSeconds) > tolerance ? 'timestamp_out_of_tolerance' : undefined;
}

function found(
  { keyId, timestamp }: { keyId: string; timestamp: Timestamp },
  signed: SignedFields,
  account: string,
): Pick<Findings, 'signed' | 'transitionId' | 'keyId' | 'timestamp'> {
  return { signed, transitionId: transitionId(signed, account), keyId, timestamp };
}

function checkOptions(
  options: Required<Pick<VerifierOptions, 'toleranceSeconds' | 'colonIn' | 'account' | 'now'>>,
): void {
  const { toleranceSeconds, colonIn, account, now } = options;
  if (toleranceSeconds !== undefined && !(Number.isFinite(toleranceSeconds) && toleranceSeconds > 0)) {
    throw new ConfigurationError(
      'toleranceSeconds',
      'toleranceSeconds must be a number of seconds above 0, or be left out.',
    );
  }
  if (colonIn !== undefined && colonIn !== 'merchant_reference' && colonIn !== 'internal_reference') {
    throw new ConfigurationError(
      'colonIn',
      "colonIn must be 'merchant_reference' or 'internal_reference', or be left out.",
    );
  }
  if (typeof account !== 'string' || !account.isWellFormed()) {
    throw new ConfigurationError('account', 'account must be a text: a label of the merchant account.');
  }
  if (typeof now !== 'function') {
    throw new ConfigurationError('now', 'now must be a function that gives milliseconds since 1970.');
  }
}

import { equalHex } from '#digest';
import { ConfigurationError } from '../errors.ts';
import { BOOLEAN, checkOptions, FUNCTION, type OptionRules } from '../options.ts';
import { type CallbackBody, jsonValue, ownValue, readCallbackBody } from './callback-body.ts';
import {
  queryForm,
  type RedirectDefaults,
  type RedirectFields,
  readRedirectQuery,
} from './redirect-query.ts';
import { type ForgedRefusal, type Refusal, refuse, refuseAuthentic, type VerifierCode } from './refusal.ts';
import { parseSignature, readTimestamp, type Signature } from './signature.ts';
import {
  type ColonField,
  isAmbiguous,
  readSignedFields,
  type SignedFields,
  signedMessage,
} from './signed-fields.ts';
import { type PreparedKey, prepareSigningKeys, type SigningKey } from './signing-keys.ts';
import { readUnsignedFields, type UnsignedFields } from './unsigned-fields.ts';
import { type Findings, type VerifiedCallback, type VerifiedRedirect, verified } from './verified.ts';

/** Options of `createVerifier()`. None of them turns verification off. */
export interface VerifierOptions {
  /**
   * The account's key for callback and redirect signatures (protocol §1), or up to four of them for rotation. `undefined`
   * compiles, so that `process.env.SIGNING_KEY` can be passed unchanged, and throws at construction.
   */
  readonly signingKey: string | readonly SigningKey[] | undefined;
  /**
   * Refuse when `t` differs from the clock by more than this many seconds, in either direction. The service recommends 30.
   * `t` is not signed, so this does not protect against replay, and it loses a retry that keeps its first `t`
   * (decision D2).
   *
   * @default no tolerance
   */
  readonly toleranceSeconds?: number | undefined;
  /**
   * The one signed field that may contain ':', which also joins the fields (decision D4). `'internal_reference'` needs
   * `isMerchantReference`.
   *
   * @default none
   */
  readonly colonIn?: ColonField | undefined;
  /**
   * Whether a string can be a reference of this merchant, for example `(text) => /^ORD-\d+$/.test(text)`. With it, a
   * callback is accepted only when exactly one way to split its two references satisfies it. For `colonIn`.
   *
   * @default none
   */
  readonly isMerchantReference?: ((reference: string) => boolean) | undefined;
  /** Other parameter names in redirects, whose wire form is not shown (protocol §5.2). @default flat or `payload[…]` */
  readonly redirectFields?: RedirectFields | undefined;
  /** Signed values for `event` and `transaction_type` in redirects that do not carry them. @default none */
  readonly redirectDefaults?: RedirectDefaults | undefined;
  /**
   * A label of the merchant account, part of every transition id. For several accounts in one database.
   *
   * @default ''
   */
  readonly account?: string | undefined;
  /** When given, a signing key equal to it is refused at construction. */
  readonly publicKey?: string | undefined;
  /** When given, a signing key equal to it is refused at construction. */
  readonly secretKey?: string | undefined;
  /**
   * Accept a sandbox key under every NODE_ENV. For test systems that customers cannot reach.
   *
   * @default false: only with NODE_ENV `development`, `test` or unset
   */
  readonly allowSandboxKeys?: boolean | undefined;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

const COLON_FIELDS: readonly unknown[] = ['merchant_reference', 'internal_reference'];

export const VERIFIER_RULES: OptionRules<VerifierOptions> = {
  signingKey: undefined,
  toleranceSeconds: [(value) => Number.isFinite(value) && Number(value) > 0, 'a number of seconds above 0'],
  colonIn: [(value) => COLON_FIELDS.includes(value), COLON_FIELDS.join(' or ')],
  isMerchantReference: FUNCTION,
  redirectFields: undefined,
  redirectDefaults: undefined,
  account: [(value) => typeof value === 'string' && value.isWellFormed(), 'a label of the merchant account'],
  publicKey: undefined,
  secretKey: undefined,
  allowSandboxKeys: BOOLEAN,
  now: FUNCTION,
};

/** Verifies callbacks and redirects. Total: hostile input gives a refusal, never an exception (decision D8). */
export interface Verifier {
  /**
   * Verifies a callback (protocol §5.2).
   *
   * @param callback.signature The value of the header `hmac-signature`.
   * @param callback.body The raw bytes, the JSON string, or the object that a body parser made: fields are signed, not bytes.
   */
  verifyCallback(callback: {
    readonly signature: string | readonly string[] | null | undefined;
    readonly body: CallbackBody | null | undefined;
  }): VerifiedCallback | Refusal;
  /**
   * Verifies a redirect (protocol §5.2). The result is a hint for the page that the customer sees.
   *
   * @param rawQuery The query, undecoded; a path or URL that contains it; or a parsed one. At most 8192 characters
   * and 128 parameters.
   * @param options.expectReference The merchant_reference of the customer's own session: any other is refused, and every
   * redirect is when the session has none (`undefined`) (threat A26).
   */
  verifyRedirect(
    rawQuery: string | URLSearchParams | URL,
    options?: { readonly expectReference?: string | undefined },
  ): VerifiedRedirect | Refusal;
}

/**
 * Makes a verifier for one merchant account.
 *
 * The signature covers five strings and nothing else (protocol §5.2): not the amount, not the timestamp. So the result keeps
 * `signed` and `unsigned` apart, and money is compared with `confirmAmount()`.
 *
 * @throws {ConfigurationError} Names the option: a signing key that is missing or cannot be one, an unknown option, or an
 * invalid value.
 *
 * @example
 * const verifier = createVerifier({ signingKey: process.env.SIGNING_KEY });
 * const result = verifier.verifyCallback({ signature: request.headers['hmac-signature'], body });
 * if (result.ok) console.log(result.signed.merchant_reference, result.signed.transaction_status);
 * else console.warn(result.code, result.hint);
 */
export function createVerifier(options: VerifierOptions): Verifier {
  checkOptions('createVerifier()', options, VERIFIER_RULES);
  const { verifySigned, verifyRedirect } = verifierOf(options);
  return Object.freeze({
    verifyCallback({ signature: header, body }: { readonly signature: unknown; readonly body: unknown }) {
      const signature = readSignature(header);
      return typeof signature === 'string' ? refuse(signature) : verifySigned(signature, body);
    },
    verifyRedirect,
  });
}

/** A verifier for the receiver, which has parsed the signature before it reads the body. */
export interface ReceiverVerifier extends Pick<Verifier, 'verifyRedirect'> {
  readonly verifySigned: (signature: Signature, body: unknown) => VerifiedCallback | Refusal;
}

/** @param options Checked by their rules. */
export function verifierOf(options: VerifierOptions): ReceiverVerifier {
  const { toleranceSeconds, colonIn, isMerchantReference, account = '', now = Date.now } = options;
  if (colonIn === undefined && isMerchantReference !== undefined) {
    throw new ConfigurationError('isMerchantReference', 'isMerchantReference needs colonIn.');
  }
  if (colonIn === 'internal_reference' && isMerchantReference === undefined) {
    throw new ConfigurationError(
      'isMerchantReference',
      "colonIn: 'internal_reference' needs isMerchantReference, or a customer could move text from one reference to the " +
        'other under the same signature.',
    );
  }
  const keys = prepareSigningKeys(options.signingKey, options);
  const form = queryForm(options.redirectFields, options.redirectDefaults);

  /** What follows the fields, the same on both channels: which key fits, then ':' and the tolerance. */
  function judge({ t, s }: Signature, reading: Reading): ForgedRefusal | Judgement {
    const { signed, malformed } = reading;
    const at = now();
    const fitting = matchingKeys(keys, signedMessage(signed), s);
    const key = fitting.find(({ notAfter }) => at <= notAfter);
    if (key === undefined) return refuse(malformed ?? (fitting.length > 0 ? 'key_expired' : 'mismatch'));
    const { readUnsigned, raw, text } = reading;
    const found = { signed, readUnsigned, raw, text, account, keyId: key.id, t, now: at };
    return { ok: true, found, code: malformed ?? brokenRule(signed, t, at) };
  }

  function brokenRule(signed: SignedFields, t: string, at: number): VerifierCode | undefined {
    if (isAmbiguous(signed, { colonIn, isMerchantReference })) return 'ambiguous';
    if (toleranceSeconds === undefined) return undefined;
    const { ageSeconds } = readTimestamp(t, at);
    if (ageSeconds === undefined) return 'timestamp_unreadable';
    return Math.abs(ageSeconds) > toleranceSeconds ? 'timestamp_out_of_tolerance' : undefined;
  }

  return {
    verifySigned(signature, body) {
      const read = readCallbackBody(body);
      if (read === undefined) return refuse('body_malformed');
      const { data, payload, text } = read;
      const value = text === undefined ? ownValue : jsonValue;
      // A repeated name is malformed under every signature (threat A17); the MAC only tells whether it is evidence.
      const malformed = read.repeatsSignedName ? 'body_malformed' : undefined;
      const signed = readSignedFields({
        event: value(data, 'event'),
        merchant_reference: value(payload, 'merchant_reference'),
        internal_reference: value(payload, 'internal_reference'),
        transaction_type: value(payload, 'transaction_type'),
        transaction_status: value(payload, 'transaction_status'),
      });
      if (signed === undefined) return refuse(malformed ?? 'signed_field_malformed');
      const readUnsigned = (): UnsignedFields => readUnsignedFields((name) => value(payload, name));
      const raw = data as Findings['raw'];
      const judged = judge(signature, { signed, malformed, readUnsigned, raw, text });
      if (!judged.ok) return judged;
      if (judged.code === undefined) return verified('callback', judged.found);
      return refuseAuthentic(judged.code, verified('evidence', judged.found));
    },

    verifyRedirect(rawQuery: unknown, options: { readonly expectReference?: string | undefined } = {}) {
      const query = readRedirectQuery(rawQuery, form);
      if (query === undefined) return refuse('query_malformed');
      const { fields, raw } = query;
      const signature = readSignature(fields.get('hmac_signature'));
      if (typeof signature === 'string') return refuse(signature);
      const signed = readSignedFields({
        event: fields.get('event'),
        merchant_reference: fields.get('merchant_reference'),
        internal_reference: fields.get('internal_reference'),
        transaction_type: fields.get('transaction_type'),
        transaction_status: fields.get('transaction_status'),
      });
      if (signed === undefined) return refuse('signed_field_malformed');
      const readUnsigned = (): UnsignedFields => readUnsignedFields((name) => fields.get(name));
      const judged = judge(signature, { signed, malformed: undefined, readUnsigned, raw, text: undefined });
      if (!judged.ok) return judged;
      // Present and undefined: the session has no reference, so it expects no redirect.
      const isExpected =
        !Object.hasOwn(options, 'expectReference') || signed.merchant_reference === options.expectReference;
      const code = judged.code ?? (isExpected ? undefined : 'reference_unexpected');
      if (code === undefined) return verified('redirect', judged.found);
      return refuseAuthentic(code, verified('evidence', judged.found));
    },
  };
}

interface Reading extends Pick<Findings, 'signed' | 'readUnsigned' | 'raw' | 'text'> {
  readonly malformed: VerifierCode | undefined;
}

interface Judgement {
  readonly ok: true;
  readonly found: Findings;
  readonly code: VerifierCode | undefined;
}

export function readSignature(value: unknown): Signature | 'signature_missing' | 'signature_malformed' {
  if (value === undefined || value === null || value === '') return 'signature_missing';
  return parseSignature(value) ?? 'signature_malformed';
}

/** Tries every key, even after a match: the time taken does not tell which one fits. */
function matchingKeys(keys: readonly PreparedKey[], message: string, hash: string): PreparedKey[] {
  const fitting: PreparedKey[] = [];
  for (const key of keys) if (equalHex(key.hmac(message), hash)) fitting.push(key);
  return fitting;
}

import { equalHex } from '#digest';
import { ConfigurationError } from '../errors.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';
import { type CallbackBody, jsonValue, ownValue, readCallbackBody } from './callback-body.ts';
import {
  queryForm,
  type RedirectDefaults,
  type RedirectFields,
  readRedirectQuery,
} from './redirect-query.ts';
import { type Refusal, refuse, refuseAuthentic, type VerifierCode } from './refusal.ts';
import { parseSignature, readTimestamp, type Signature, type Timestamp } from './signature.ts';
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
   */
  readonly isMerchantReference?: ((reference: string) => boolean) | undefined;
  /** Other parameter names in redirects, whose wire form is not shown (protocol §5.2). */
  readonly redirectFields?: RedirectFields | undefined;
  /** Values for `event` and `transaction_type` in redirects that do not carry them; they are part of the signed message. */
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
   * Take a signing key of the sandbox whatever NODE_ENV is. For test systems that customers cannot reach.
   *
   * @default false: only with NODE_ENV `development`, `test` or unset
   */
  readonly allowSandboxKeys?: boolean | undefined;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** What each option must be, if it is given. Keys, redirect names and their values have checks of their own. */
const SHAPES: { readonly [Name in keyof VerifierOptions]?: readonly [(value: unknown) => boolean, string] } =
  {
    toleranceSeconds: [(value) => Number.isFinite(value) && Number(value) > 0, 'a number of seconds above 0'],
    colonIn: [
      (value) => value === 'merchant_reference' || value === 'internal_reference',
      "'merchant_reference' or 'internal_reference'",
    ],
    isMerchantReference: [isFunction, 'a function beside colonIn'],
    account: [
      (value) => typeof value === 'string' && value.isWellFormed(),
      'a string that labels the account',
    ],
    allowSandboxKeys: [(value) => typeof value === 'boolean', 'true or false'],
    now: [isFunction, 'a function that returns milliseconds since 1970'],
  };

export const VERIFIER_OPTIONS: readonly string[] = [
  ...Object.keys(SHAPES),
  'signingKey',
  'redirectFields',
  'redirectDefaults',
  'publicKey',
  'secretKey',
];

/** Verifies callbacks and redirects. Total: hostile input gives a refusal, never an exception (decision D8). */
export interface Verifier {
  /**
   * Verifies a callback (protocol §5.2).
   *
   * @param callback.signature The value of the header `hmac-signature`.
   * @param callback.body The raw bytes, their text, or the object that a body parser made: fields are signed, not bytes.
   */
  verifyCallback(callback: {
    readonly signature: string | readonly string[] | null | undefined;
    readonly body: CallbackBody | null | undefined;
  }): VerifiedCallback | Refusal;
  /**
   * Verifies a redirect (protocol §5.2). The result is a hint for the page that the customer sees.
   *
   * @param rawQuery The query, undecoded; a path or URL that contains it; or what the runtime parsed. At most 8192 characters
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
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('signingKey', 'createVerifier() needs an object: { signingKey }.');
  }
  checkOptions(options);
  const keys = prepareSigningKeys(options.signingKey, options);
  const form = queryForm(options.redirectFields, options.redirectDefaults);
  const { toleranceSeconds, colonIn, isMerchantReference, account = '', now = Date.now } = options;
  const colonRule = { colonIn, isMerchantReference };

  /** The rules that follow the fields, the same on both channels: which key fits, then ':' and the tolerance. */
  function judge(signed: SignedFields, { t, s }: Signature, at: number): Judgement {
    const fitting = matchingKeys(keys, signedMessage(signed), s);
    const valid = fitting.find(({ notAfter }) => at <= notAfter);
    if (valid === undefined) return { key: undefined, code: fitting.length > 0 ? 'key_expired' : 'mismatch' };
    if (isAmbiguous(signed, colonRule)) return { key: valid, code: 'ambiguous' };
    if (toleranceSeconds === undefined) return { key: valid, code: undefined };
    return { key: valid, code: timestampRule(readTimestamp(t, at), toleranceSeconds) };
  }

  return Object.freeze({
    verifyCallback({ signature: header, body }: { signature: unknown; body: unknown }) {
      const signature = readSignature(header);
      if (typeof signature === 'string') return refuse(signature);
      const parsed = readCallbackBody(body);
      if (parsed === undefined) return refuse('body_malformed');
      const { data, payload, text, repeatsSignedName } = parsed;
      const value = text === undefined ? ownValue : jsonValue;
      const signed = readSignedFields({
        event: value(data, 'event'),
        merchant_reference: value(payload, 'merchant_reference'),
        internal_reference: value(payload, 'internal_reference'),
        transaction_type: value(payload, 'transaction_type'),
        transaction_status: value(payload, 'transaction_status'),
      });
      // A repeated name is malformed whatever the signature says (threat A17); the MAC only tells whether it is evidence.
      const repeated = repeatsSignedName ? 'body_malformed' : undefined;
      if (signed === undefined) return refuse(repeated ?? 'signed_field_malformed');
      const at = now();
      const { key, code } = judge(signed, signature, at);
      if (key === undefined) return refuse(repeated ?? code);
      const refusal = repeated ?? code;
      const readUnsigned = (): UnsignedFields => readUnsignedFields((name) => value(payload, name));
      const raw = data as Findings['raw'];
      const found = { signed, readUnsigned, raw, account, keyId: key.id, t: signature.t, now: at, text };
      if (refusal === undefined) return verified('callback', found);
      return refuseAuthentic(refusal, verified('evidence', found));
    },

    verifyRedirect(rawQuery: unknown, options: { expectReference?: string | undefined } = {}) {
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
      const at = now();
      const { key, code } = judge(signed, signature, at);
      if (key === undefined) return refuse(code);
      // Named and undefined is a session without a reference: that one expects no redirect at all.
      const isOther =
        Object.hasOwn(options, 'expectReference') && signed.merchant_reference !== options.expectReference;
      const refusal = code ?? (isOther ? 'reference_unexpected' : undefined);
      const readUnsigned = (): UnsignedFields => readUnsignedFields((name) => fields.get(name));
      const found = {
        signed,
        readUnsigned,
        raw,
        account,
        keyId: key.id,
        t: signature.t,
        now: at,
        text: undefined,
      };
      if (refusal === undefined) return verified('redirect', found);
      return refuseAuthentic(refusal, verified('evidence', found));
    },
  });
}

type Judgement =
  | { readonly key: undefined; readonly code: VerifierCode }
  | { readonly key: PreparedKey; readonly code: VerifierCode | undefined };

function readSignature(value: unknown): Signature | 'signature_missing' | 'signature_malformed' {
  if (value === undefined || value === null || value === '') return 'signature_missing';
  return parseSignature(value) ?? 'signature_malformed';
}

/** Every key is tried, whatever the earlier ones said: the time taken does not tell which one fits. */
function matchingKeys(keys: readonly PreparedKey[], message: string, hash: string): PreparedKey[] {
  const fitting: PreparedKey[] = [];
  for (const key of keys) if (equalHex(key.hmac(message), hash)) fitting.push(key);
  return fitting;
}

function timestampRule({ ageSeconds }: Timestamp, tolerance: number): VerifierCode | undefined {
  if (ageSeconds === undefined) return 'timestamp_unreadable';
  return Math.abs(ageSeconds) > tolerance ? 'timestamp_out_of_tolerance' : undefined;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function checkOptions(options: VerifierOptions): void {
  refuseUnknownOptions('createVerifier()', options, VERIFIER_OPTIONS);
  const { colonIn, isMerchantReference } = options;
  for (const [option, [isValid, shape]] of Object.entries(SHAPES)) {
    const value: unknown = Reflect.get(options, option);
    const isAlone = option === 'isMerchantReference' && colonIn === undefined;
    if (value === undefined || (isValid(value) && !isAlone)) continue;
    throw new ConfigurationError(option, `${option} must be ${shape}, or be left out.`);
  }
  if (colonIn === 'internal_reference' && isMerchantReference === undefined) {
    throw new ConfigurationError(
      'isMerchantReference',
      "colonIn: 'internal_reference' needs isMerchantReference. Otherwise a customer who can put ':' into a reference can " +
        'move its end into the other reference, under the same signature.',
    );
  }
}

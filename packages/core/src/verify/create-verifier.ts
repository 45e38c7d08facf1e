import { equalHex } from '#digest';
import { ConfigurationError } from '../errors.ts';
import { BOOLEAN, checkOptions, FUNCTION, kindOf, type OptionRules } from '../options/options.ts';
import {
  type CallbackBody,
  jsonValue,
  keptBody,
  malformedBody,
  ownValue,
  readCallbackBody,
  viewOf,
} from './callback-body.ts';
import {
  type QueryForm,
  queryForm,
  type RedirectDefaults,
  type RedirectFields,
  readRedirectQuery,
} from './redirect-query.ts';
import { type Refusal, refuse, refuseAuthentic, type VerifierCode } from './refusal.ts';
import { readSignature, readTimestamp, type Signature, type SignatureCheck } from './signature.ts';
import {
  type ColonRule,
  isAmbiguous,
  readSignedFields,
  type SignedFields,
  signedMessage,
} from './signed-fields.ts';
import { type KeyOptions, type PreparedKey, prepareSigningKeys } from './signing-keys.ts';
import { fromText } from './unsigned-fields.ts';
import {
  type Claims,
  type Findings,
  type Kinds,
  type VerifiedCallback,
  type VerifiedRedirect,
  verified,
} from './verified.ts';

/** Options of `createVerifier()`. None of them turns verification off. */
export interface VerifierOptions extends KeyOptions, ColonRule {
  /**
   * Refuses a callback or redirect if `t` differs from the clock by more than this many seconds, in either direction. The service
   * recommends 30. `t` is not signed, so this does not protect against replay, and it loses a retry that keeps its first `t`
   * (decision D2).
   *
   * @default no tolerance
   */
  readonly toleranceSeconds?: number | undefined;
  /** Other parameter names in redirects, whose wire form is not shown (protocol §5.2). @default flat or `payload[…]` */
  readonly redirectFields?: RedirectFields | undefined;
  /** Signed values for `event` and `transaction_type` in redirects that do not carry them. @default none */
  readonly redirectDefaults?: RedirectDefaults | undefined;
  /**
   * A label for the merchant account, part of every transition id. For several accounts in one database.
   *
   * @default ''
   */
  readonly account?: string | undefined;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

export const VERIFIER_RULES: OptionRules<VerifierOptions> = {
  signingKey: undefined,
  toleranceSeconds: [(value) => Number.isFinite(value) && Number(value) > 0, 'a number of seconds above 0'],
  colonIn: [
    (value) => value === 'merchant_reference' || value === 'internal_reference',
    'merchant_reference or internal_reference',
  ],
  isMerchantReference: FUNCTION,
  redirectFields: undefined,
  redirectDefaults: undefined,
  account: [(value) => typeof value === 'string' && value.isWellFormed(), 'a string'],
  publicKey: undefined,
  secretKey: undefined,
  allowSandboxKeys: BOOLEAN,
  now: FUNCTION,
};

/** Verifies callbacks and redirects. Total: hostile input leads to a refusal, never an exception (decision D8). */
export interface Verifier {
  /**
   * Verifies a callback (protocol §5.2).
   *
   * @param callback.signature The value of the header `hmac-signature`.
   * @param callback.body The raw bytes, the JSON string, or the object that a body parser made: fields are signed, not bytes.
   * @returns A verified callback, or a refusal. Check `ok` first: only with `result.ok` does the result have `signed`.
   *
   * @example
   * const result = verifier.verifyCallback({ signature, body });
   * if (!result.ok) return refuse(result.code, result.hint);
   * result.signed.merchant_reference; // 'ORD-1001'
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
   * @param options.expectReference The merchant_reference of the customer's own session: any other is refused. If the session has
   * no reference (`undefined`), every redirect is refused (threat A26).
   */
  verifyRedirect(
    rawQuery: string | URLSearchParams | URL,
    options?: { readonly expectReference?: string | undefined },
  ): VerifiedRedirect | Refusal;
}

/**
 * Creates a verifier for one merchant account.
 *
 * The signature covers five strings and nothing else (protocol §5.2): not the amount, not the timestamp. So the result keeps
 * `signed` and `unsigned` apart, and money is compared with `assertAmount()`.
 *
 * @throws {ConfigurationError} Names the option, if a signing key is missing or invalid, an option is unknown, or a value is
 * invalid.
 *
 * @example
 * const verifier = createVerifier({ signingKey: process.env.SIGNING_KEY });
 * const result = verifier.verifyCallback({ signature: request.headers['hmac-signature'], body });
 * if (result.ok) console.log(result.signed.merchant_reference, result.signed.transaction_status);
 * else console.warn(result.code, result.hint);
 */
export function createVerifier(options: VerifierOptions): Verifier {
  checkOptions('createVerifier()', options, VERIFIER_RULES);
  const verifier = verifierOf(options);
  const { verifySigned } = verifier;
  return Object.freeze({
    verifyCallback(callback: { readonly signature: unknown; readonly body: unknown }) {
      try {
        const { signature: header, body } = callback;
        const signature = readSignature(header);
        if (typeof signature === 'object') return verifySigned(signature, body);
        if (Object(header) === header)
          return refuse(signature, `The signature is ${kindOf(header)}. Pass the string.`);
        return refuse(signature, header === undefined && 'headers' in callback ? OF_REQUEST : undefined);
      } catch {
        return refuse('signature_missing'); // It is not an object, or is a proxy that throws.
      }
    },
    verifyRedirect: redirectVerifier(verifier),
  });
}

const OF_REQUEST = 'This is a request. Pass { signature, body }: its hmac-signature header and its body.';

/** A verifier for the receiver, which parses the signature before it reads the body. */
export interface ReceiverVerifier {
  readonly check: SignatureCheck;
  readonly judge: Judge;
  readonly form: QueryForm;
  readonly verifySigned: (signature: Signature, body: unknown) => VerifiedCallback | Refusal;
}

/** @param options Already checked against their rules. */
export function verifierOf(options: VerifierOptions): ReceiverVerifier {
  const { toleranceSeconds, colonIn, isMerchantReference, account = '', now = Date.now } = options;
  const isAlone =
    isMerchantReference === undefined ? colonIn === 'internal_reference' : colonIn === undefined;
  if (isAlone) {
    throw new ConfigurationError(
      'isMerchantReference',
      "isMerchantReference needs colonIn, and colonIn: 'internal_reference' needs it.",
    );
  }
  const keys = prepareSigningKeys(options);
  const rule: ColonRule = { colonIn, isMerchantReference };
  const form = queryForm(options.redirectFields, options.redirectDefaults);

  /** The checks of both channels: the five fields, the matching key, ':', the tolerance, and what the channel adds. */
  const judge: Judge = (kind, { t, s }, reading) => {
    const { signed, claims, malformed, isUnexpected } = reading;
    if (signed === undefined) return refuse(malformed ?? 'signed_field_malformed');
    const at = now();
    const { key, isExpired } = matching(signed, s, at);
    if (key === undefined) return refuse(malformed ?? (isExpired ? 'key_expired' : 'mismatch'));
    const findings: Findings = { claims: claims(), signed, account, keyId: key.id, t, s, now: at, check };
    const code =
      malformed ?? brokenRule(signed, t, at) ?? (isUnexpected(signed) ? 'reference_unexpected' : undefined);
    if (code === undefined) return verified(kind, findings);
    return refuseAuthentic(code, verified('evidence', findings));
  };

  function matching(signed: SignedFields, s: string, at: number) {
    const message = signedMessage(signed);
    // Tries every key, even after a match, so that the time taken does not reveal which one matches.
    let key: PreparedKey | undefined;
    let isExpired = false;
    for (const one of keys) {
      if (!equalHex(one.hmac(message), s)) continue;
      if (at <= one.notAfter) key ??= one;
      else isExpired = true;
    }
    return { key, isExpired };
  }

  const check: SignatureCheck = (kept) => {
    const signature = readSignature(kept.signature);
    const signed = readSignedFields((name) => kept.signed[name]);
    // The signature does not cover the account: a key vouches for its own account only.
    if (typeof signature === 'string' || signed === undefined || kept.account !== account) return undefined;
    const { key } = matching(signed, signature.s, now());
    return key && { keyId: key.id, isAmbiguous: isAmbiguous(signed, rule) };
  };

  function brokenRule(signed: SignedFields, t: string, at: number): VerifierCode | undefined {
    if (isAmbiguous(signed, rule)) return 'ambiguous';
    if (toleranceSeconds === undefined) return undefined;
    const { ageSeconds } = readTimestamp(t, at);
    if (ageSeconds === undefined) return 'timestamp_unreadable';
    return Math.abs(ageSeconds) > toleranceSeconds ? 'timestamp_out_of_tolerance' : undefined;
  }

  return {
    check,
    judge,
    form,
    verifySigned(signature, body) {
      const found = readCallbackBody(body) ?? readCallbackBody(viewOf(body));
      if (found === undefined) return refuse('body_malformed', malformedBody(body));
      const { data, payload, text } = found;
      const value = text === undefined ? ownValue : jsonValue;
      return judge('callback', signature, {
        signed: readSignedFields((name) => value(name === 'event' ? data : payload, name)),
        claims: () => {
          const kept = keptBody(found);
          return { claim: (name) => jsonValue(kept.payload, name), raw: kept.data as Claims['raw'], text };
        },
        // A repeated name is malformed under every signature (threat A17); the MAC only decides whether it is evidence.
        malformed: found.repeatsSignedName ? 'body_malformed' : undefined,
        isUnexpected: () => false, // Callbacks belong to no session.
      });
    },
  };
}

/** Separate from callbacks, so that a callback route loads no query parser. */
export function redirectVerifier({
  judge,
  form,
}: Pick<ReceiverVerifier, 'judge' | 'form'>): Verifier['verifyRedirect'] {
  return (rawQuery, options) => {
    const query = readRedirectQuery(rawQuery, form);
    if (query === undefined) return refuse('query_malformed');
    const { fields, raw } = query;
    const signature = readSignature(fields.get('hmac_signature'));
    if (typeof signature === 'string') return refuse(signature);
    return judge('redirect', signature, {
      signed: readSignedFields((name) => fields.get(name)),
      claims: () => ({ claim: (name) => fromText(name, fields.get(name)), raw: raw(), text: undefined }),
      malformed: undefined,
      // Present but undefined, or misspelled: the session has no reference, so it expects no redirect.
      isUnexpected: ({ merchant_reference }) =>
        Object.keys(Object(options)).length > 0 && merchant_reference !== options?.expectReference,
    });
  };
}

type Judge = <K extends 'callback' | 'redirect'>(
  kind: K,
  signature: Signature,
  reading: Reading,
) => Kinds[K] | Refusal;

/** No member is optional: a missing one would be read from a polluted Object.prototype (threat A42). */
interface Reading {
  readonly signed: SignedFields | undefined;
  /** The unsigned data for the result to keep. Called only after the signature has matched. */
  readonly claims: () => Claims;
  readonly malformed: VerifierCode | undefined;
  readonly isUnexpected: (signed: SignedFields) => boolean;
}

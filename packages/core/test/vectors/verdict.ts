import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
  type Verifier,
  type VerifierOptions,
} from '../../src/index.ts';
import type { Vector } from './vector.ts';

export type Verdict = VerifiedCallback | VerifiedRedirect | Refusal;
type CallbackInput = Parameters<Verifier['verifyCallback']>[0];

/** The verdicts on one vector, one for each form of its body. */
export function verdictsOn(vector: Vector): [form: string, verdict: Verdict][] {
  const verifier = createVerifier(verifierOptions(vector.options));
  if (vector.channel === 'redirect') {
    const { expect_reference } = vector.options;
    const options = expect_reference === undefined ? {} : { expectReference: expect_reference };
    return [['query', verifier.verifyRedirect(vector.query ?? '', options)]];
  }
  return bodiesOf(vector).map(([form, body]) => {
    // Some vectors deliberately have signatures and bodies of wrong types, which the types rule out.
    const callback = { signature: vector.signature, body } as CallbackInput;
    return [form, verifier.verifyCallback(callback)];
  });
}

function verifierOptions(options: Vector['options']): VerifierOptions {
  const { signing_key, signing_keys, tolerance_seconds, colon_in, merchant_reference_pattern, now_ms } =
    options;
  const pattern =
    merchant_reference_pattern === undefined ? undefined : new RegExp(merchant_reference_pattern, 'u');
  const ring = signing_keys?.map(({ id, key, not_after }) => ({
    id,
    key,
    notAfter: not_after === undefined ? undefined : new Date(not_after),
  }));
  return {
    signingKey: ring ?? signing_key,
    toleranceSeconds: tolerance_seconds,
    colonIn: colon_in,
    isMerchantReference: pattern && ((reference) => pattern.test(reference)),
    redirectDefaults: options.redirect_defaults,
    now: () => now_ms,
  };
}

/** A JSON string gets the same verdict as a string and as bytes; one that verifies, also after a parser has read it. */
function bodiesOf(vector: Vector): [form: string, body: unknown][] {
  if (vector.body_hex !== undefined) return [['bytes', Buffer.from(vector.body_hex, 'hex')]];
  if (vector.body_text === undefined) return [['parsed', vector.body_json]];
  const text = vector.body_text;
  const forms: [string, unknown][] = [
    ['text', text],
    ['bytes', new TextEncoder().encode(text)],
  ];
  if (vector.expect.ok) forms.push(['parsed', JSON.parse(text.replace(/^\ufeff/, ''))]);
  return forms;
}

/** The verdict that every form of a vector must get; it may have more members than these. */
export function expectedOf({ channel, expect: expected }: Vector): object {
  if (!expected.ok) return expected;
  const { signed, key_id, timestamp_unit: unit, age_seconds: ageSeconds } = expected;
  const hasAge = ageSeconds !== undefined || unit === 'unreadable';
  return {
    ...{ ok: true, kind: channel, signed },
    ...(key_id === undefined ? {} : { keyId: key_id }),
    timestamp: hasAge ? { unit, ageSeconds } : { unit },
  };
}

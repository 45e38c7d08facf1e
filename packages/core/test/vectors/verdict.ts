import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
  type Verifier,
  type VerifierOptions,
} from '../../src/index.ts';
import { type Expectation, SIGNED_NAMES, type Vector } from './vector.ts';

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
    // Some vectors have signatures and bodies of wrong types on purpose, which the types rule out.
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

/** A JSON string gets one verdict as a string and as bytes; one that verifies, also when a parser has read it. */
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

/** Every difference between the expectation and the verdicts, in words. */
export function differences(vector: Vector, expected: Expectation = vector.expect): string[] {
  return verdictsOn(vector).flatMap(([form, verdict]) =>
    compare(expected, verdict, vector.channel).map((text) => `${form}: ${text}`),
  );
}

function compare(expected: Expectation, verdict: Verdict, channel: Vector['channel']): string[] {
  const wrong: string[] = [];
  const check = (what: string, actual: unknown, wanted: unknown): void => {
    if (actual !== wanted) wrong.push(`${what} is ${String(actual)}, not ${String(wanted)}`);
  };
  if (!expected.ok) {
    if (verdict.ok) return [`accepted, not ${expected.code}`];
    check('code', verdict.code, expected.code);
    check('authentic', verdict.authentic, expected.authentic);
    return wrong;
  }
  if (!verdict.ok) return [`refused as ${verdict.code}, not accepted`];
  check('kind', verdict.kind, channel);
  check('the number of signed fields', Object.keys(verdict.signed).length, 5);
  for (const name of SIGNED_NAMES) check(`signed.${name}`, verdict.signed[name], expected.signed[name]);
  check('unit', verdict.timestamp.unit, expected.timestamp_unit);
  if (expected.key_id !== undefined) check('keyId', verdict.keyId, expected.key_id);
  if (expected.age_seconds !== undefined) {
    check('ageSeconds', verdict.timestamp.ageSeconds, expected.age_seconds);
  }
  if (expected.timestamp_unit === 'unreadable') {
    check('ageSeconds', verdict.timestamp.ageSeconds, undefined);
  }
  return wrong;
}

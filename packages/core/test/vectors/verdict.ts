import { createVerifier, type Verifier, type VerifierOptions } from '../../src/index.ts';
import type { Vector } from './vector.ts';

type CallbackInput = Parameters<Verifier['verifyCallback']>[0];
/** What a URL object leaves as it is. */
const IN_A_URL = /^(?![?/]|https?:)[!$-;=?-_a-z|~]*$/i;

/** The verdicts on one vector, one for each form of its body or query. */
export function verdictsOn(vector: Vector): [form: string, verdict: object][] {
  const verifier = createVerifier(verifierOptions(vector.options));
  if (vector.channel === 'redirect') {
    const { expect_reference } = vector.options;
    const options = expect_reference === undefined ? {} : { expectReference: expect_reference };
    return queriesOf(vector.query ?? '').map((query) => [
      String(query),
      verifier.verifyRedirect(query, options),
    ]);
  }
  return bodiesOf(vector).map(([form, body]) => {
    // Some vectors deliberately have signatures and bodies of wrong types, which the types rule out.
    const callback = { signature: vector.signature, body } as CallbackInput;
    return [form, verifier.verifyCallback(callback)];
  });
}

/** A query gets the same verdict as a string, after a path, and in a URL. */
function queriesOf(query: string): (string | URL)[] {
  if (query.length > 8000 || !IN_A_URL.test(query)) return [query];
  return [query, `/return?${query}`, new URL(`https://shop.example/return?${query}`)];
}

function verifierOptions(options: Vector['options']): VerifierOptions {
  const { merchant_reference_pattern: source } = options;
  const pattern = source === undefined ? undefined : new RegExp(source, 'u');
  const ring = options.signing_keys?.map(({ id, key, not_after }) => {
    return { id, key, notAfter: not_after === undefined ? undefined : new Date(not_after) };
  });
  return {
    ...{ signingKey: ring ?? options.signing_key, toleranceSeconds: options.tolerance_seconds },
    ...{ colonIn: options.colon_in, redirectDefaults: options.redirect_defaults, now: () => options.now_ms },
    isMerchantReference: pattern && ((reference) => pattern.test(reference)),
  };
}

/** A JSON string gets the same verdict as a string and as bytes; one that verifies, also after a parser has read it. */
function bodiesOf(vector: Vector): [form: string, body: unknown][] {
  if (vector.body_hex !== undefined) return [['bytes', Buffer.from(vector.body_hex, 'hex')]];
  if (vector.body_text === undefined) return [['parsed', vector.body_json]];
  const text = vector.body_text;
  const parsed = vector.expect.ok ? [JSON.parse(text.replace(/^\ufeff/, ''))] : [];
  const forms = [text, new TextEncoder().encode(text), ...parsed];
  return forms.map((body, at) => [['text', 'bytes', 'parsed'][at] ?? '', body]);
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

import { createVerifier, type Verifier } from '@payment-service/core';

/** The members of one case of `openapi/signature-vectors.json` that are needed to judge it. */
export interface Vector {
  readonly name: string;
  readonly channel: 'callback' | 'redirect';
  readonly options: {
    readonly signing_key?: string;
    readonly signing_keys?: readonly {
      readonly id: string;
      readonly key: string;
      readonly not_after?: string;
    }[];
    readonly tolerance_seconds?: number;
    readonly colon_in?: 'merchant_reference' | 'internal_reference';
    readonly merchant_reference_pattern?: string;
    readonly redirect_defaults?: { readonly event?: string; readonly transaction_type?: string };
    readonly expect_reference?: string;
    readonly now_ms: number;
  };
  readonly signature?: unknown;
  readonly body_text?: string;
  readonly body_hex?: string;
  readonly body_json?: unknown;
  readonly query?: string;
  readonly expect: { readonly ok: true } | { readonly ok: false; readonly code: string };
}

/** The unexpected verdicts, as `name: actual`; empty if all are as expected. */
export function wrongVerdicts(vectors: readonly Vector[]): string[] {
  return vectors.flatMap((vector) => {
    const actual = verdict(vector);
    return actual === (vector.expect.ok ? 'accepted' : vector.expect.code)
      ? []
      : [`${vector.name}: ${actual}`];
  });
}

function verdict({ options, channel, query = '', signature, ...carried }: Vector): string {
  const { signing_key, signing_keys, tolerance_seconds, colon_in, expect_reference, now_ms } = options;
  const { merchant_reference_pattern: pattern } = options;
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const ring = signing_keys?.map(({ id, key, not_after }) => ({
    id,
    key,
    ...(not_after === undefined ? {} : { notAfter: new Date(not_after) }),
  }));
  const verifier = createVerifier({
    signingKey: ring ?? signing_key,
    toleranceSeconds: tolerance_seconds,
    colonIn: colon_in,
    isMerchantReference: expression && ((reference) => expression.test(reference)),
    redirectDefaults: options.redirect_defaults,
    now: () => now_ms,
  });
  const { body_text, body_hex, body_json } = carried;
  const body = body_hex === undefined ? (body_text ?? body_json) : bytesOf(body_hex);
  // The file deliberately contains signatures and bodies of wrong types, which the types rule out.
  const callback = { signature, body } as Parameters<Verifier['verifyCallback']>[0];
  const expectation = expect_reference === undefined ? {} : { expectReference: expect_reference };
  const result =
    channel === 'callback' ? verifier.verifyCallback(callback) : verifier.verifyRedirect(query, expectation);
  return result.ok ? 'accepted' : result.code;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

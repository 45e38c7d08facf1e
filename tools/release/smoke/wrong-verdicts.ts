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
  const wrong = vectors.filter((one) => verdict(one) !== (one.expect.ok ? 'accepted' : one.expect.code));
  return wrong.map((one) => `${one.name}: ${verdict(one)}`);
}

function verdict({ options, channel, query = '', signature, ...carried }: Vector): string {
  const { merchant_reference_pattern: pattern, expect_reference } = options;
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const ring = options.signing_keys?.map(({ id, key, not_after }) => {
    return { id, key, notAfter: not_after === undefined ? undefined : new Date(not_after) };
  });
  const verifier = createVerifier({
    ...{ signingKey: ring ?? options.signing_key, toleranceSeconds: options.tolerance_seconds },
    ...{ colonIn: options.colon_in, redirectDefaults: options.redirect_defaults, now: () => options.now_ms },
    isMerchantReference: expression && ((reference) => expression.test(reference)),
  });
  const { body_text, body_hex, body_json } = carried;
  const body = body_hex === undefined ? (body_text ?? body_json) : bytesOf(body_hex);
  // The file deliberately contains signatures and bodies of wrong types, which the types rule out.
  const callback = { signature, body } as Parameters<Verifier['verifyCallback']>[0];
  // An expectation that is undefined would be one that no redirect meets.
  const expectation = expect_reference === undefined ? {} : { expectReference: expect_reference };
  const result =
    channel === 'callback' ? verifier.verifyCallback(callback) : verifier.verifyRedirect(query, expectation);
  return result.ok ? 'accepted' : result.code;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

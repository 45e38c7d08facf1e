import { createVerifier, type VerifiedCallback } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';

export const SIGNING_KEY = 'bT4vQ9mX2sLd7RzK5wYp8NcJ3hGf6EaU';

/** A callback as it arrives over the wire: about 560 bytes, with the 16 fields of the contract. */
export interface WireCallback {
  readonly body: string;
  readonly signature: string;
}

/** Callbacks with new references, so that each is a separate row. */
export function freshCallbacks(prefix: string, count: number): readonly WireCallback[] {
  return Array.from({ length: count }, (_, index) => {
    const data = sampleCallback({
      payload: {
        id: index,
        merchant_reference: `ORD-${prefix}-${index}`,
        internal_reference: `INT-${prefix}-${index}`,
      },
    });
    return { body: JSON.stringify(data), signature: signCallback({ signingKey: SIGNING_KEY, data }) };
  });
}

export function verified(callbacks: readonly WireCallback[]): readonly VerifiedCallback[] {
  const verifier = createVerifier({ signingKey: SIGNING_KEY });
  return callbacks.map((callback) => {
    const result = verifier.verifyCallback(callback);
    if (!result.ok) throw new Error('A benchmark callback does not verify.');
    return result;
  });
}

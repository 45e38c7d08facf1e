import type { SignedFields } from './signed-fields.ts';

/** What was kept of a delivery whose signature had been verified: enough to verify it again. */
export interface KeptSignature {
  readonly signed: SignedFields;
  /** The value of `hmac-signature`. */
  readonly signature: string;
  /** The label of the merchant account. */
  readonly account: string;
}

/**
 * Verifies what was kept, under the keys and the ':' rules of one verifier as they are now: a key past its `notAfter` no longer
 * counts. Without its tolerance, since what was kept has waited. Undefined if it does not verify. A closure, so that no key
 * leaves its verifier.
 */
export type SignatureCheck = (
  kept: KeptSignature,
) => { readonly keyId: string; readonly isAmbiguous: boolean } | undefined;

type TakeCheck = (check: SignatureCheck) => void;

/** Registered, so that two copies of core agree on it (threat A37). The 1 is the version of `SignatureCheck`. */
const TAKES_CHECK = /* @__PURE__ */ Symbol.for('@payment-service/core/takes-check/1');

/** Marks a handler: a route that gets it offers its check when it is made, before the first callback. Returns the handler. */
export function takingCheck<F extends (...args: never[]) => unknown>(handler: F, take: TakeCheck): F {
  return Object.defineProperty(handler, TAKES_CHECK, { value: take });
}

/** Does nothing for other handlers. */
export function offerCheck(handler: unknown, check: SignatureCheck): void {
  if (typeof handler !== 'function') return;
  // Own: a polluted prototype is not asked (threat A42).
  const take: unknown = Object.getOwnPropertyDescriptor(handler, TAKES_CHECK)?.value;
  if (typeof take === 'function') take(check);
}

import { expect } from 'vitest';
import {
  type AuthenticRefusal,
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
  type Verifier,
  type VerifierOptions,
} from '../src/index.ts';
import { signCallback } from '../src/testing.ts';
import { callbackData, SIGNATURE, SIGNING_KEY, signatureFor, T } from './signed-callbacks.ts';

type Verified = VerifiedCallback | VerifiedRedirect;
type CallbackInput = Parameters<Verifier['verifyCallback']>[0];

/** Ten seconds after the `t` of the ordinary callback, in milliseconds. */
export const NOW: number = (T + 10) * 1000;

/** The verifier for which the ordinary callback and the ordinary redirect are signed. */
export const verifier: Verifier = createVerifier({ signingKey: SIGNING_KEY, now: () => NOW });

/**
 * The result of the ordinary verifier, or of one with other options. No type limits an attacker, so both parameters are
 * unknown.
 */
export function verify(
  body: unknown,
  signature: unknown = SIGNATURE,
  options?: Partial<VerifierOptions>,
): VerifiedCallback | Refusal {
  const given = options && createVerifier({ signingKey: SIGNING_KEY, now: () => NOW, ...options });
  return (given ?? verifier).verifyCallback({ signature, body } as CallbackInput);
}

/** The code, and whether the refusal is authentic. Every refusal has a hint. */
export function verdictOf(result: Verified | Refusal): string {
  if (result.ok) return 'accepted';
  expect(result.hint).toMatch(/^\S.+\.$/);
  return `${result.code}${result.authentic ? ', authentic' : ''}`;
}

/** The result of a verification that must succeed. */
export function accepted<Result extends Verified>(result: Result | Refusal): Result {
  if (!result.ok) throw new Error(`refused: ${result.code}`);
  return result;
}

/** hmac-signature for any fields, computed by the code under test. */
export function sign(data: { event: string; payload: object }, signingKey: string = SIGNING_KEY): string {
  return signCallback({ signingKey, data, timestamp: T });
}

/** The ordinary callback, verified, with its payload changed and signed. */
export function callbackOf(payload?: Record<string, unknown>): VerifiedCallback {
  const data = callbackData(payload);
  return accepted(verify(data, sign(data)));
}

/** What an authentic callback that is refused, as ambiguous, leaves. */
export function evidence(): AuthenticRefusal['evidence'] {
  const result = verify(callbackData({ merchant_reference: 'A:B' }), signatureFor('A:B'));
  if (result.ok || !result.authentic) throw new Error('There is no evidence.');
  return result.evidence;
}

/** The ConfigurationError of this option. */
export const misconfigured = (option: string, message: unknown = expect.any(String)): Error =>
  expect.objectContaining({ name: 'ConfigurationError', code: 'invalid_configuration', option, message });

import { expect } from 'vitest';
import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
  type VerifierOptions,
} from '../../src/index.ts';
import { NOW } from '../ordinary-verifier.ts';
import { SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';

/** The result of a verifier that is the ordinary one but for the options. */
export function verify(
  body: Uint8Array | string | object,
  signature: string = SIGNATURE,
  options: Partial<VerifierOptions> = {},
): VerifiedCallback | Refusal {
  const given = createVerifier({ signingKey: SIGNING_KEY, now: () => NOW, ...options });
  return given.verifyCallback({ signature, body });
}

/** The code, and whether the refusal is authentic. Every refusal has a hint. */
export function verdictOf(result: VerifiedCallback | VerifiedRedirect | Refusal): string {
  if (result.ok) return 'accepted';
  expect(result.hint).toMatch(/^\S.+\.$/);
  return `${result.code}${result.authentic ? ', authentic' : ''}`;
}

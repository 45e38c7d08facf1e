import type { Refusal, VerifiedCallback, VerifiedRedirect, Verifier } from '../../src/index.ts';
import { verifier } from '../ordinary-verifier.ts';
import { SIGNATURE } from '../signed-callbacks.ts';

type CallbackInput = Parameters<Verifier['verifyCallback']>[0];

/** The ordinary verifier's result. No type limits an attacker, so both are unknown. */
export function verify(body: unknown, signature: unknown = SIGNATURE): VerifiedCallback | Refusal {
  return verifier.verifyCallback({ signature, body } as CallbackInput);
}

export function codeOf(result: VerifiedCallback | VerifiedRedirect | Refusal): string {
  return result.ok ? 'accepted' : result.code;
}

import type { Refusal, VerifiedCallback, VerifiedRedirect } from '../src/index.ts';

/** The result of a verification that must succeed. */
export function accepted<Result extends VerifiedCallback | VerifiedRedirect>(
  result: Result | Refusal,
): Result {
  if (!result.ok) throw new Error(`refused: ${result.code}`);
  return result;
}

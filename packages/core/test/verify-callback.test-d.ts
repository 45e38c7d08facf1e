import { createVerifier, type SignedFields, type VerifiedCallback } from '../src/index.ts';

// Only compiled, never run: what must compile, and what must not.

const result = createVerifier({ signingKey: 'a' }).verifyCallback({ signature: '', body: '' });

// @ts-expect-error: a refusal has no signed fields; check `ok` first.
result.signed;
// @ts-expect-error: a refusal is not a verified callback; check `ok` first.
export const unchecked: VerifiedCallback = result;

export const signed: SignedFields | undefined = result.ok ? result.signed : undefined;
export const verified: VerifiedCallback | undefined = result.ok ? result : undefined;

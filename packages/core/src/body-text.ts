import { ConfigurationError } from './errors.ts';
import { Evidence, Verified, VerifiedCallback } from './verify/verified.ts';

/**
 * The JSON text of a callback, to be stored: as it came, or written anew from `raw` where a body parser came first.
 * It may hold a name and a phone number. Store it as bytes or text, not as `jsonb`: a NUL in an unsigned field would
 * make a genuine callback unstorable (threat A10).
 *
 * @throws {ConfigurationError} when the value does not come from `verifyCallback()`.
 *
 * @example
 * await db.query('insert into evidence (body) values ($1)', [Buffer.from(bodyText(callback))]);
 */
export function bodyText(callback: VerifiedCallback | Evidence): string {
  if (!VerifiedCallback.isGenuine(callback) && !Evidence.isGenuine(callback)) {
    throw new ConfigurationError(
      'callback',
      'bodyText() takes what verifyCallback() made, not a copy or a redirect.',
    );
  }
  return Verified.textOf(callback) ?? stringify(callback);
}

/** JSON.parse reads nesting that JSON.stringify cannot write (threat A18): then the contract's own fields are kept. */
function stringify({ raw, signed, unsigned }: VerifiedCallback | Evidence): string {
  try {
    return JSON.stringify(raw);
  } catch {
    const { event, ...inPayload } = signed;
    return JSON.stringify({ event, payload: { ...inPayload, ...unsigned } });
  }
}

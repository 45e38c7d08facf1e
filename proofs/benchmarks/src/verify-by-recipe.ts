import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * What a merchant's team writes from protocol §5.2 in an afternoon: correct for a genuine callback and for a simple forgery. It
 * has none of core's refusals (':' shifts, coercion, repeated names, invalid UTF-8), which is the price of its lead in the
 * table.
 */
export function verifyByRecipe(signingKey: string, body: Buffer, header: string): unknown {
  const data: unknown = JSON.parse(body.toString('utf8'));
  if (!matchesByRecipe(signingKey, data, header)) throw new Error('The signature does not match.');
  return data;
}

/** The same, after a body parser. */
export function matchesByRecipe(signingKey: string, data: unknown, header: string): boolean {
  if (!isCallback(data)) return false;
  const { s = '' } = Object.fromEntries(header.split(',').map((part) => part.split('=')));
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = data.payload;
  const text = [
    data.event,
    merchant_reference,
    internal_reference,
    transaction_type,
    transaction_status,
  ].join(':');
  const hash = createHmac('sha256', signingKey).update(text).digest('hex');
  return s.length === hash.length && timingSafeEqual(Buffer.from(s), Buffer.from(hash));
}

/** A field that every handler needs, read from the object that JSON.parse returned. */
export function merchantReference(data: unknown): unknown {
  return isCallback(data) ? data.payload['merchant_reference'] : undefined;
}

interface Callback {
  readonly event: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
}

function isCallback(data: unknown): data is Callback {
  return typeof data === 'object' && data !== null && 'payload' in data && data.payload instanceof Object;
}

import { hash } from 'node:crypto';
import { bodyText, type VerifiedCallback } from '@payment-service/core';

/** What the inbox stores of a callback, made by hand: for the floors, which write the same rows. */
export type SameRow = Readonly<Record<(typeof COLUMNS)[number], string>> & { readonly receivedAt: number };

/** In the order of the floors' statements; `receivedAt` follows. */
export const COLUMNS = [
  'transitionId',
  'signed',
  'referenceKey',
  'transactionType',
  'subjectKey',
  'digest',
  'content',
  'claims',
  'keyId',
] as const;

export function sameRow(callback: VerifiedCallback): SameRow {
  const { signed, unsigned, transitionId, keyId } = callback;
  const content = bodyText(callback);
  const claimed = { currency: unsigned.request_currency ?? null, amount: String(unsigned.request_amount) };
  return {
    transitionId,
    signed: JSON.stringify(signed),
    referenceKey: hash('sha256', signed.merchant_reference, 'base64url'),
    transactionType: JSON.stringify(signed.transaction_type),
    subjectKey: hash('sha256', signed.internal_reference, 'base64url'),
    digest: hash('sha256', content),
    content,
    claims: JSON.stringify({ request: claimed, transaction: claimed }),
    keyId,
    receivedAt: Date.now(),
  };
}

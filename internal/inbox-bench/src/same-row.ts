import { createHash } from 'node:crypto';
import { bodyText, type VerifiedCallback } from '@payment-service/core';

/** What the inbox stores of a callback, made by hand: for the floors, which write the same rows. */
export interface SameRow {
  readonly transitionId: Buffer;
  readonly signed: string;
  readonly referenceKey: Buffer;
  readonly subjectKey: Buffer;
  readonly digest: Buffer;
  readonly body: Buffer;
  readonly currency: string;
  readonly amount: string;
  readonly keyId: string;
  readonly receivedAt: number;
}

export function sameRow(callback: VerifiedCallback): SameRow {
  const { signed, unsigned, transitionId, keyId } = callback;
  const body = Buffer.from(bodyText(callback));
  return {
    transitionId: Buffer.from(transitionId, 'hex'),
    signed: JSON.stringify(signed),
    referenceKey: sha256(signed.merchant_reference),
    subjectKey: sha256(signed.internal_reference),
    digest: sha256(body),
    body,
    currency: unsigned.request_currency ?? '',
    amount: String(unsigned.request_amount),
    keyId,
    receivedAt: Date.now(),
  };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

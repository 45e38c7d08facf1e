import type { SignedFields, TransactionCallback } from '@payment-service/core';
import { signCallback } from '@payment-service/core/testing';
import { deriveText } from '../state/account.ts';
import type { Signing } from '../state/records.ts';

/** Signs five fields with the account's key, or on purpose with another one. */
export type Signer = (fields: SignedFields, now: number, signing?: Partial<Signing>) => string;

/** `t` is in seconds by default; the service's unit is not shown (protocol §5.2). */
export function createSigner(
  signingKey: string,
  seed: string,
  timestampUnit: 'seconds' | 'milliseconds',
): Signer {
  const otherKey = `SANDBOXOTHER${deriveText(seed, 'another signing key', 32)}`;
  return ({ event, ...payload }, now, { key = 'account', offsetSeconds = 0, unit } = {}) => {
    const time = now + offsetSeconds * 1000;
    return signCallback({
      signingKey: key === 'account' ? signingKey : otherKey,
      data: { event, payload },
      timestamp: Math.floor((unit ?? timestampUnit) === 'seconds' ? time / 1000 : time),
    });
  };
}

/** The five fields that the service signs (protocol §5.2), in its order. */
export function signedFieldsOf({
  event,
  payload,
}: Pick<TransactionCallback, 'event' | 'payload'>): SignedFields {
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
  return { event, merchant_reference, internal_reference, transaction_type, transaction_status };
}

import { hash } from 'node:crypto';
import {
  type AuthenticRefusal,
  bodyText,
  type Claim,
  ConfigurationError,
  claimedAmounts,
  type Evidence,
  isTransactionCompleted,
  type RefusalCode,
  type SignedFields,
  type VerifiedCallback,
} from '@payment-service/core';

/** The distinct bodies of one transition that are kept, and as many pieces of evidence; beyond them, see body-limit.ts. */
export const MAX_BODIES = 8;

/** For a delivery that is acknowledged already, so that no limit can refuse it. */
export const UNLIMITED_BODIES: number = 2 ** 31 - 1;

/** One delivery of a transition. Keys are SHA-256, 64 hexadecimal digits: cheaper to carry than buffers of their own. */
export interface IntakeRecord {
  readonly transitionId: string;
  /**
   * The five signed fields as one JSON text. PostgreSQL's text cannot hold a NUL, which a genuine field may hold (threat A10);
   * JSON writes it as an escape, so that nothing is lost and people can still read the column.
   */
  readonly signed: string;
  readonly referenceKey: string;
  readonly subjectKey: string;
  readonly isCompleted: boolean;
  /** Of the body's bytes. */
  readonly digest: string;
  /** The JSON text as it came. */
  readonly body: string;
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
  readonly keyId: string;
  /** The rule that refused it, where this is evidence. */
  readonly refusal: RefusalCode | undefined;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** How many distinct bodies the transition may have with this one; for evidence, how many pieces of it. */
  readonly maxBodies: number;
}

export interface StoredClaim {
  readonly currency: string | null;
  readonly amount: string | null;
}

/** A currency that is longer or not printable ASCII can equal no expectation, and PostgreSQL could not store a NUL. */
const CURRENCY = /^[\x21-\x7e]{1,32}$/;

export function isStorableCurrency(currency: unknown): currency is string {
  return typeof currency === 'string' && CURRENCY.test(currency);
}

/**
 * @throws {ConfigurationError} When the value is not what `verifyCallback()` made (a redirect, a copy, evidence), or belongs
 * to another account.
 */
export function callbackRecord(callback: VerifiedCallback, account: string, now: number): IntakeRecord {
  const text = bodyText(callback);
  // bodyText() takes evidence as well; its kind is frozen, so that it cannot pass for a callback here.
  if (callback.kind !== 'callback') {
    throw new ConfigurationError(
      'callback',
      'receive() takes verified callbacks; evidence goes to quarantine().',
    );
  }
  return record(callback, text, {
    account,
    now,
    refusal: undefined,
  });
}

/** @throws {ConfigurationError} When the value is not an authentic refusal of `verifyCallback()`, or of another account. */
export function evidenceRecord(refusal: AuthenticRefusal, account: string, now: number): IntakeRecord {
  const { evidence, code } = refusal;
  const text = bodyText(evidence);
  return record(evidence, text, { account, now, refusal: code });
}

/**
 * The key of an expectation. Hashed, since a reference may be longer than an index takes. The type belongs to it: a
 * completed payout under the reference of an order does not pay that order.
 */
export function referenceKey(merchantReference: string, transactionType: string, account: string): string {
  return sha256(JSON.stringify(['merchant_reference', account, transactionType, merchantReference]));
}

export function storedSignedFields(text: string): SignedFields {
  return Object.freeze(JSON.parse(text) as SignedFields);
}

function record(
  verified: VerifiedCallback | Evidence,
  text: string,
  {
    account,
    now,
    refusal,
  }: {
    account: string;
    now: number;
    refusal: RefusalCode | undefined;
  },
): IntakeRecord {
  const { event, merchant_reference, internal_reference, transaction_type, transaction_status } =
    verified.signed;
  // The id of a transition contains the account, so under two labels one payment would be two transitions.
  if (verified.account !== account) throw otherAccount();
  const claims = claimedAmounts(verified);
  return {
    transitionId: verified.transitionId,
    signed: JSON.stringify({
      event,
      merchant_reference,
      internal_reference,
      transaction_type,
      transaction_status,
    }),
    referenceKey: referenceKey(merchant_reference, transaction_type, account),
    subjectKey: sha256(JSON.stringify(['internal_reference', account, internal_reference])),
    isCompleted: isTransactionCompleted(verified),
    digest: sha256(text),
    body: text,
    request: storedClaim(claims.request),
    transaction: storedClaim(claims.transaction),
    keyId: verified.keyId,
    refusal,
    receivedAt: now,
    maxBodies: MAX_BODIES,
  };
}

function otherAccount(): ConfigurationError {
  return new ConfigurationError(
    'account',
    'The option account of createInbox() and the option account of paymentCallbacks() or createVerifier() differ, so this ' +
      'callback was not stored. Set both to the same label, or leave both out.',
  );
}

function storedClaim({ currency, amount }: Claim): StoredClaim {
  return { currency: isStorableCurrency(currency) ? currency : null, amount: amount ?? null };
}

function sha256(text: string): string {
  return hash('sha256', text);
}

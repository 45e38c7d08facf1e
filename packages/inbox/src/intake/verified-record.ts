import { hash } from 'node:crypto';
import {
  type AuthenticRefusal,
  bodyText,
  ConfigurationError,
  type Evidence,
  type RefusalCode,
  type SignedFields,
  transitionId,
  type VerifiedCallback,
} from '@payment-service/core';
import {
  type Claim,
  checkArgument,
  claimedAmounts,
  type OptionRule,
  readSignedFields,
  type SignatureCheck,
  signedMessage,
  traceparentOf,
} from '@payment-service/core/internal';
import {
  claimsDigest,
  type IntakeRecord,
  isSealed,
  isStorableCurrency,
  isUnambiguous,
  referenceKey,
  subjectKey,
} from '../delivery/stored-delivery.ts';
import { optionalText, type Row } from '../store/store.ts';
import type { Claims, StoredClaim } from '../verdict/evaluate.ts';
import { claimsIn, membersOf, reasonIn, signedIn } from '../verdict/stored-values.ts';

/**
 * The maximum number of distinct bodies and pieces of evidence that are kept of one transition. One signature can have 8
 * bodies, one more that equals the expectation, 3 pieces that only the tolerance refused, and 3 that can be read in more than
 * one way, in a row of their own: 15 times 64 KiB, less than 1 MiB.
 */
export const MAX_BODIES = 8;
export const MAX_EVIDENCE = 3;
/** The limit of core's receiver, before and after decompression. */
const MAX_BODY_BYTES = 64 * 1024;

/** @throws {ConfigurationError} If the value was not returned by `verifyCallback()`, is of another account, or is too large. */
export function callbackRecord(callback: VerifiedCallback, account: string): IntakeRecord {
  // bodyText() takes evidence as well; its kind is frozen, so it cannot pass for a callback here.
  checkArgument('onCallback()', 'callback', callback, CALLBACK);
  return genuineRecord(callback, account, null, traceparentOf(callback));
}

const CALLBACK: OptionRule = [
  (callback) => Object(callback).kind === 'callback',
  'a verified callback (pass evidence to onAuthenticRefusal())',
];
const REFUSAL: OptionRule = [
  (refusal) => Object(refusal).evidence.kind === 'evidence',
  'an authentic refusal of verifyCallback()',
];

/** @throws {ConfigurationError} If the value is not an authentic refusal of `verifyCallback()`, or is of another account. */
export function evidenceRecord(refusal: AuthenticRefusal, account: string): IntakeRecord {
  checkArgument('onAuthenticRefusal()', 'refusal', refusal, REFUSAL);
  return genuineRecord(refusal.evidence, account, refusal.code, traceparentOf(refusal));
}

function genuineRecord(
  verified: VerifiedCallback | Evidence,
  account: string,
  refusal: RefusalCode | null,
  traceparent: string | undefined,
): IntakeRecord {
  const content = bodyText(verified).toWellFormed();
  if (verified.account !== account) {
    // The id of a transition contains the account, so under two labels one payment would be two transitions.
    throw new ConfigurationError(
      'account',
      'The option account of createInbox() and the option account of paymentCallbacks() or createVerifier() differ, so ' +
        'this callback was not stored. Set both to the same label, or leave both out.',
    );
  }
  if (Buffer.byteLength(content) > MAX_BODY_BYTES) {
    throw new ConfigurationError(
      'callback',
      'This body is larger than 64 KiB, so it was not stored. Limit the body parser that runs before paymentCallbacks().',
    );
  }
  const { signed, keyId } = verified;
  const { request, transaction } = claimedAmounts(verified);
  return recordOf(signed, {
    ...{ account, content, keyId, refusal },
    claims: { request: storable(request), transaction: storable(transaction) },
    traceparent: traceparent ?? null,
    provider: providerIn(verified.unsigned.provider_code),
  });
}

/** What does not follow from the signed fields and the content. */
type Given = Pick<IntakeRecord, 'account' | 'keyId' | 'refusal' | 'traceparent' | 'provider'>;

/** The record of a transition, with the keys that follow from its signed fields. */
export function recordOf(
  signed: SignedFields,
  { content, claims, ...given }: Given & { readonly content: string; readonly claims: Claims },
): IntakeRecord {
  return {
    ...given,
    ...keysOf(signed, given),
    digest: hash('sha256', content),
    content,
    claims: JSON.stringify(claims),
  };
}

/** What follows from the signed fields, the account and the rule that refused them. */
function keysOf(
  signed: SignedFields,
  { account, refusal }: Pick<IntakeRecord, 'account' | 'refusal'>,
): Pick<
  IntakeRecord,
  'transitionId' | 'signed' | 'referenceKey' | 'transactionType' | 'subjectKey' | 'isDue'
> {
  return {
    isDue: isUnambiguous(refusal) ? 1 : null,
    transitionId: isUnambiguous(refusal) ? transitionId(signed, account) : evidenceId(signed, account),
    signed: JSON.stringify(signed),
    referenceKey: referenceKey(signed.merchant_reference, account),
    transactionType: JSON.stringify(signed.transaction_type),
    subjectKey: subjectKey(signed.internal_reference, account),
  };
}

/** The text of a delivery in the spool: the signature, and what does not follow from what it signs. */
export function spoolText(record: IntakeRecord, signature: string): string {
  const { signed, content, claims, refusal, traceparent, provider } = record;
  return JSON.stringify({ signature, signed, content, claims, refusal, traceparent, provider });
}

/**
 * The record of a delivery in the spool. Another program may have written or changed it, so nothing that the signature proves is
 * believed (threat A66). The rest is unsigned in a request as well: what the body claims, and the rule that refused it unless
 * that is the ':' rule.
 *
 * @returns undefined if its signature does not verify.
 * @throws If it is damaged.
 */
export function recordIn(text: string, account: string, check: SignatureCheck): IntakeRecord | undefined {
  const row: Row = Object(JSON.parse(text));
  const signed = signedIn(row);
  const found = check({ signed, account, signature: String(row['signature'] ?? '') });
  const content = optionalText(row, 'content') ?? null;
  const isWhole = isWholeBody(content, signed);
  if (found === undefined || isWhole === undefined) return undefined;
  const reason = reasonIn(row, 'refusal') ?? null;
  const refusal = found.isAmbiguous && isUnambiguous(reason) ? 'ambiguous' : reason;
  const keys = keysOf(signed, { account, refusal });
  const claims = JSON.stringify(claimsIn(row));
  return {
    ...{ ...keys, account, content, claims, refusal, keyId: found.keyId },
    digest:
      isWhole && content !== null ? hash('sha256', content) : claimsDigest({ signed: keys.signed, claims }),
    traceparent: optionalText(row, 'traceparent') ?? null,
    provider: providerIn(optionalText(row, 'provider')),
    isAcknowledged: true,
  };
}

/**
 * Whether content is a whole body, false for the part of it that `bodies` or `encryption` keeps. Undefined if it shows other
 * signed fields than those that were verified, which pages would present as proved.
 */
function isWholeBody(content: string | null, signed: SignedFields): boolean | undefined {
  if (content === null || isSealed(content)) return false;
  const { event, payload } = membersOf(JSON.parse(content));
  const members: Readonly<Record<string, unknown>> = { ...membersOf(payload), event };
  const shown = readSignedFields((name) => members[name]);
  if (shown !== undefined) return JSON.stringify(shown) === JSON.stringify(signed) ? true : undefined;
  return Object.keys(signed).every((name) => members[name] === undefined) ? false : undefined;
}

/** Longer or other text is not a code: it is not kept beside the body. */
const PROVIDER = /^[\w.-]{1,32}$/;

const providerIn = (code: unknown): string | null =>
  typeof code === 'string' && PROVIDER.test(code) ? code : null;

/** All readings of one signed string share an id, and with it one limit of bodies (threat A34). */
function evidenceId(signed: SignedFields, account: string): string {
  return hash('sha256', JSON.stringify(['evidence', account, signedMessage(signed)]));
}

/** Leaves out the members that only unusual bodies need. */
function storable({ currency, amount, text, isInexact }: Claim): StoredClaim {
  const money = { currency: isStorableCurrency(currency) ? currency : null, amount: amount ?? null };
  return { ...money, ...(text !== undefined && { text }), ...(isInexact && { isInexact }) };
}

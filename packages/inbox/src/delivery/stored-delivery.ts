import { hash } from 'node:crypto';
import { ConfigurationError } from '@payment-service/core';
import { unsignedFields } from '@payment-service/core/internal';
import { failureCode } from '../reporting/events.ts';
import { type Report, warn } from '../reporting/problems.ts';
import type { TransitionReason } from '../states.ts';

/** One delivery of a transition. Keys and digests are SHA-256 in 64 hexadecimal digits. */
export interface IntakeRecord {
  readonly transitionId: string;
  readonly account: string;
  /** As JSON, which escapes a NUL: a genuine field may contain one (threat A10), and PostgreSQL's text cannot. */
  readonly signed: string;
  readonly referenceKey: string;
  /** As JSON, for the same reason. */
  readonly transactionType: string;
  readonly subjectKey: string;
  /** The hash of the content, or of the part of it that is kept: see BodyContent. */
  readonly digest: string;
  /** The JSON text, unchanged, or serialised again if a body parser read it first; or the part of it that is kept. */
  readonly content: string | null;
  /** `Claims` as JSON. */
  readonly claims: string;
  readonly keyId: string;
  /** The rule that refused it, if this is evidence. */
  readonly refusal: TransitionReason | null;
  /** The trace of its request (W3C Trace Context), or of a span that was made for it. */
  readonly traceparent: string | null;
  /** The provider_code that its body claims, if it looks like one. Not signed. */
  readonly provider: string | null;
  /** A worker looks at it; null for evidence that can be read in more than one way, which belongs to no payment. */
  readonly isDue: 1 | null;
  /** It comes from the spool and was acknowledged, so no limit can refuse it. */
  readonly isAcknowledged?: true;
  /** Its transition is archived, and it is kept beside the archive. */
  readonly isArchived?: 1;
}

/** A longer currency, or one that is not printable ASCII, can equal no expectation, and PostgreSQL could not store a NUL. */
const CURRENCY = /^[\x21-\x7e]{1,32}$/;

export function isStorableCurrency(currency: unknown): currency is string {
  return typeof currency === 'string' && CURRENCY.test(currency);
}

/** Hashed, since a reference may be longer than an index allows. */
export function referenceKey(merchantReference: string, account: string): string {
  return hash('sha256', JSON.stringify(['merchant_reference', account, merchantReference]), 'base64url');
}

/** The transitions with one key are the statuses of one transaction. */
export function subjectKey(internalReference: string, account: string): string {
  return hash('sha256', JSON.stringify(['internal_reference', account, internalReference]), 'base64url');
}

/** Only a rule about `t` refused it: the five fields are beyond doubt. */
export function isUnambiguous(refusal: string | null): boolean {
  return refusal === null || refusal.startsWith('timestamp_');
}

/** Encryption at rest for the content of bodies, in the database and in the spool: `aesGcm()`, or your own functions. */
export interface BodyEncryption {
  /**
   * Called once for each delivery. What it seals also says to which account, transition and body it belongs, so use authenticated
   * encryption, and put the id of the key into the result. Must return a string without NUL, synchronously: fetch keys in advance.
   */
  readonly seal: (content: string) => string;
  /** Undoes `seal()`, with the key that the sealed content names. Throws where it cannot. */
  readonly open: (sealed: string) => string;
}

/** What is stored of a body. */
interface BodyContentOptions {
  readonly account: string;
  readonly bodies: 'full' | 'claims';
  readonly encryption: BodyEncryption | undefined;
  readonly report: Report;
}

/** Which body it is. */
type Place = Pick<IntakeRecord, 'transitionId' | 'digest'>;

/** No JSON begins with it. */
const SEALED = 'sealed:';
/** The unsigned fields that hold no free text, account or name. */
export const NO_PERSON: readonly string[] = [
  ...['request_currency', 'request_amount', 'transaction_currency', 'transaction_amount'],
  ...['transaction_charge', 'charge_customer', 'total_credit', 'provider_code'],
];
const IDENTIFIER = /^[A-Za-z][\w.-]{0,31}$/;

/** What is stored of the content of bodies, and what is read of it (decision D64). */
export class BodyContent {
  readonly #options: BodyContentOptions;
  /** What was reported and still fails. */
  readonly #failing = new Set<'body_not_sealed' | 'body_not_opened'>();

  /** @throws {ConfigurationError} If `encryption` cannot open what it sealed. */
  constructor(options: BodyContentOptions) {
    this.#options = options;
    if (options.encryption !== undefined) tryOut(options.encryption);
  }

  /** What is kept from now on is sealed: content that is not is older, or another program wrote it (threat A66). */
  get isEncrypted(): boolean {
    return this.#options.encryption !== undefined;
  }

  /** What the database and the spool store of a delivery. */
  keep(record: IntakeRecord): IntakeRecord {
    const { bodies, encryption } = this.#options;
    if (bodies === 'full' && encryption === undefined) return record;
    const kept = withoutContent(record);
    const content = bodies === 'claims' ? withoutPerson(record.content ?? '') : (record.content ?? '');
    return { ...kept, content: encryption === undefined ? content : this.#seal(encryption, kept, content) };
  }

  /** @returns undefined for content that was removed, and for content that cannot be opened. */
  open(content: string | undefined, { transitionId, digest }: Place): string | undefined {
    if (content === undefined || !isSealed(content)) return content;
    const { account, encryption } = this.#options;
    let failure = 'without the option encryption';
    try {
      const opened: unknown = JSON.parse(encryption?.open(content.slice(SEALED.length)) ?? '[]');
      const [of, id, body, plain] = Array.isArray(opened) ? opened : [];
      if (of === account && id === transitionId && body === digest && typeof plain === 'string') {
        this.#failing.delete('body_not_opened');
        return plain;
      }
      if (encryption !== undefined) failure = 'it was sealed for another row';
    } catch (error) {
      failure = failureCode(error);
    }
    this.#warn(
      'body_not_opened',
      `The content of a stored body cannot be opened (${failure}). Payments are still applied, but handlers receive no fields ` +
        'of such a body in claimed. Probably its key is missing: add it to the option encryption.',
    );
    return undefined;
  }

  /** The payment matters more than the content: without it, the callback is still kept and applied. */
  #seal(encryption: BodyEncryption, { transitionId, digest }: Place, content: string): string | null {
    try {
      const { account } = this.#options;
      const sealed = sealedBy(encryption, JSON.stringify([account, transitionId, digest, content]));
      this.#failing.delete('body_not_sealed');
      return SEALED + sealed;
    } catch (error) {
      this.#warn(
        'body_not_sealed',
        `The content of a body could not be sealed (${failureCode(error)}), so callbacks are kept and applied without ` +
          'it: only what they claim about money is stored. Fix seal() of the option encryption.',
      );
      return null;
    }
  }

  /** Once, and again if it fails after it has worked. */
  #warn(kind: 'body_not_sealed' | 'body_not_opened', message: string): void {
    if (!this.#failing.has(kind)) warn(this.#options.report, kind, message);
    this.#failing.add(kind);
  }
}

export function isSealed(content: string | undefined): boolean {
  return content?.startsWith(SEALED) === true;
}

/**
 * The record with only what the rules need. Its digest covers only what is stored in the clear: the hash of a body that contains a
 * phone number could be reversed by trying every number.
 */
export function withoutContent(record: IntakeRecord): IntakeRecord {
  return { ...record, content: null, digest: claimsDigest(record) };
}

/** @param place Distinguishes different bodies that claim the same. @default 0 */
export function claimsDigest({ signed, claims }: Pick<IntakeRecord, 'signed' | 'claims'>, place = 0): string {
  return hash('sha256', JSON.stringify(['claims', signed, claims, place]));
}

function withoutPerson(content: string): string {
  const fields = Object.entries(unsignedFields(content)).filter(
    ([name, value]) => NO_PERSON.includes(name) && (typeof value !== 'string' || IDENTIFIER.test(value)),
  );
  return JSON.stringify({ payload: Object.fromEntries(fields) });
}

function sealedBy({ seal }: BodyEncryption, content: string): string {
  const sealed: unknown = seal(content);
  if (typeof sealed === 'string' && sealed.isWellFormed() && !sealed.includes('\0')) return sealed;
  throw new TypeError('seal() must return a string without NUL, not a promise.');
}

function tryOut(encryption: BodyEncryption): void {
  const sample = 'a sample that tests the option encryption';
  let opened: unknown;
  let cause: unknown;
  try {
    const sealed = sealedBy(encryption, sample);
    opened = sealed.includes(sample) ? undefined : encryption.open(sealed);
  } catch (error) {
    cause = error;
  }
  if (opened === sample) return;
  throw new ConfigurationError(
    'encryption',
    'encryption must have seal() and open(), synchronous functions from a string to a string. seal() must hide its input, and ' +
      'open() must restore it. Use aesGcm({ current, keys }), or fix your functions.',
    { cause },
  );
}

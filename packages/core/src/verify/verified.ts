import { inspectAsJson, REDACTED } from './redacted.ts';
import type { SignedFields } from './signed-fields.ts';
import type { Timestamp } from './timestamp.ts';
import type { UnsignedFields } from './unsigned-fields.ts';

/** What the verifier found out, before it is known what becomes of it. */
export interface Findings {
  readonly signed: SignedFields;
  readonly unsigned: UnsignedFields;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly transitionId: string;
  readonly keyId: string;
  readonly timestamp: Timestamp;
  /** The JSON text of a callback that came unparsed. */
  readonly text?: string | undefined;
}

/**
 * What verified callbacks, verified redirects and evidence share. `signed` is proved; `unsigned` and `raw` are claims.
 *
 * Logging one shows the signed fields only: bodies hold names and phone numbers (threat A23). To store what came, take
 * `bodyText()`.
 */
export abstract class Verified {
  /** The five strings that the signature proves. */
  readonly signed: SignedFields;
  /** The contract's other fields, as far as they have the contract's type. Not proved by anything. */
  readonly unsigned: UnsignedFields;
  /** All that came, unknown fields included. Not proved by anything. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** The identity of the transition, 64 hexadecimal digits: the same for every repetition. Deduplicate by it. */
  readonly transitionId: string;
  /** The id of the signing key that matched; `default` where a single key was given. */
  readonly keyId: string;
  /** What the sender claims about the time. Not signed. */
  readonly timestamp: Timestamp;
  readonly #text: string | undefined;

  constructor({ signed, unsigned, raw, transitionId, keyId, timestamp, text }: Findings) {
    this.signed = signed;
    this.unsigned = unsigned;
    this.raw = raw;
    this.transitionId = transitionId;
    this.keyId = keyId;
    this.timestamp = timestamp;
    this.#text = text;
  }

  static textOf(verified: Verified): string | undefined {
    return verified.#text;
  }

  toJSON(): object {
    return { ...this, unsigned: REDACTED, raw: REDACTED };
  }

  static {
    inspectAsJson(Verified.prototype);
  }
}

/**
 * A callback whose signature fits (protocol §5.2). Only `createVerifier()` makes one, and nothing else can be
 * handed to what credits money.
 */
export class VerifiedCallback extends Verified {
  readonly ok = true;
  readonly kind = 'callback';
  // Only looked for, never read: it makes the type nominal and lets a copy be told from what the verifier made.
  readonly #genuine = true;

  constructor(findings: Findings) {
    super(findings);
    Object.freeze(this);
  }

  static isGenuine(value: unknown): value is VerifiedCallback {
    return typeof value === 'object' && value !== null && #genuine in value;
  }
}

/**
 * A redirect whose signature fits. A hint for the page that the customer sees, nothing more: the customer knows this
 * URL, and can open it again at any time.
 */
export class VerifiedRedirect extends Verified {
  readonly ok = true;
  readonly kind = 'redirect';
  readonly #genuine = true;

  constructor(findings: Findings) {
    super(findings);
    Object.freeze(this);
  }

  static isGenuine(value: unknown): value is VerifiedRedirect {
    return typeof value === 'object' && value !== null && #genuine in value;
  }
}

/**
 * What an authentic refusal carried: its signature fits, and a rule refuses it. Worth keeping for a person; nothing
 * that credits money takes it.
 */
export class Evidence extends Verified {
  readonly kind = 'evidence';
  readonly #genuine = true;

  constructor(findings: Findings) {
    super(findings);
    Object.freeze(this);
  }

  static isGenuine(value: unknown): value is Evidence {
    return typeof value === 'object' && value !== null && #genuine in value;
  }
}

import { inspectAsJson, REDACTED } from './redacted.ts';
import type { SignedFields } from './signed-fields.ts';
import type { Timestamp } from './timestamp.ts';
import type { UnsignedFields } from './unsigned-fields.ts';

/** What the verifier found out, before it is known on which channel. */
export interface Findings {
  readonly signed: SignedFields;
  readonly unsigned: UnsignedFields;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly transitionId: string;
  readonly keyId: string;
  readonly timestamp: Timestamp;
}

/**
 * The part that verified callbacks and redirects share. `signed` is proved; `unsigned` and `raw` are claims.
 *
 * Logging one shows the signed fields only: bodies hold names and phone numbers (A23). To store what came, take
 * `raw`.
 */
abstract class Verified {
  readonly ok = true;
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

  constructor({ signed, unsigned, raw, transitionId, keyId, timestamp }: Findings) {
    this.signed = signed;
    this.unsigned = unsigned;
    this.raw = raw;
    this.transitionId = transitionId;
    this.keyId = keyId;
    this.timestamp = timestamp;
  }

  toJSON(): object {
    return { ...this, unsigned: REDACTED, raw: REDACTED };
  }

  static {
    inspectAsJson(Verified.prototype);
  }
}

/**
 * A callback whose signature fits (specification 5.2). Only `createVerifier()` makes one, and nothing else can be
 * handed to what credits money.
 */
export class VerifiedCallback extends Verified {
  readonly kind = 'callback';
  readonly #text: string | undefined;

  constructor(findings: Findings, text: string | undefined) {
    super(findings);
    this.#text = text;
    Object.freeze(this);
  }

  /** Whether the value was made by the verifier: a copy, a redirect or a hand-made object was not. */
  static isGenuine(value: unknown): value is VerifiedCallback {
    return typeof value === 'object' && value !== null && #text in value;
  }

  /** The JSON text, where the callback came unparsed. */
  static textOf(callback: VerifiedCallback): string | undefined {
    return callback.#text;
  }
}

/**
 * A redirect whose signature fits. A hint for the page that the customer sees, nothing more: the customer knows this
 * URL, and can open it again at any time.
 */
export class VerifiedRedirect extends Verified {
  readonly kind = 'redirect';
  // Never read: it makes the type nominal, so that no callback passes for a redirect or the other way round.
  readonly #channel = 'redirect';

  constructor(findings: Findings) {
    super(findings);
    Object.freeze(this);
  }

  static isGenuine(value: unknown): value is VerifiedRedirect {
    return typeof value === 'object' && value !== null && #channel in value;
  }
}

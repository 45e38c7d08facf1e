import { ConfigurationError } from '../errors.ts';
import { kindOf } from '../options/options.ts';
import { isLargerThanBody, jsonText, jsonValue, readCallbackBody } from './callback-body.ts';
import { readTimestamp, type SignatureCheck, type Timestamp } from './signature.ts';
import { idOf, type SignedFields } from './signed-fields.ts';
import { readUnsignedFields, type UnsignedFields, type UnsignedName } from './unsigned-fields.ts';

export interface Kinds {
  readonly callback: VerifiedCallback;
  readonly redirect: VerifiedRedirect;
  readonly evidence: Evidence;
}
export type Kind = keyof Kinds;

/** The findings of the verifier. */
export interface Findings extends Pick<Verified<Kind>, 'signed' | 'account' | 'keyId'> {
  readonly claims: Claims;
  /** `t` and `s`, unchanged, and the time when they were read. */
  readonly t: string;
  readonly s: string;
  readonly now: number;
  /** The verifier's check. */
  readonly check: SignatureCheck;
}

/** What the body or query says but the signature does not prove. */
export interface Claims extends Pick<Verified<Kind>, 'raw'> {
  /** Reads an unsigned field by its name. */
  readonly claim: (name: UnsignedName) => unknown;
  /** The JSON text of a callback that no parser has read: only there is an amount exact. */
  readonly text: string | undefined;
}

/**
 * What verified callbacks, verified redirects and evidence have in common. `signed` is proved; `unsigned` and `raw` are
 * claims.
 *
 * A log shows only the signed fields, since bodies contain names and phone numbers (threat A23). To store the body, use
 * `bodyText()`.
 */
export interface Verified<K extends Kind> {
  readonly kind: K;
  /** The five strings that the signature proves. */
  readonly signed: SignedFields;
  /** The contract's other fields, if they have the contract's type. Not proved. */
  readonly unsigned: UnsignedFields;
  /** The whole body or query, including unknown fields. Not proved. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** The identity of the transition, 64 hexadecimal digits: the same for every repetition. Deduplicate by it. */
  readonly transitionId: string;
  /** The label of the merchant account, as passed to the verifier. */
  readonly account: string;
  /** The id of the signing key that matched; `default` for a single key. */
  readonly keyId: string;
  /** The sender's claim about the time. Not signed. */
  readonly timestamp: Timestamp;
  toJSON(): object;
  /** Exists only in the types and makes them nominal: no other object is assignable. Not a symbol, so that two copies of this
   * package, or its ESM and CommonJS builds, share one type. */
  readonly '~verified': K;
}

/**
 * A callback with a valid signature (protocol §5.2). Only `createVerifier()` makes one. `signed` is proved; every amount is in
 * `unsigned` and is not proved, so compare it with `assertAmount()` before you credit it.
 *
 * @example
 * async function onCallback(callback: VerifiedCallback) {
 *   if (!isTransactionCompleted(callback)) return; // keep it, and credit nothing
 *   const order = await orders.find(callback.signed.merchant_reference);
 *   const payment = assertAmount(callback, order); // throws unless it is exactly this payment
 *   await credit(order, payment.amount, callback.transitionId);
 * }
 */
export interface VerifiedCallback extends Verified<'callback'> {
  readonly ok: true;
}

/**
 * A redirect with a valid signature. It is only a hint for the page that the customer sees: the customer knows this address,
 * and can open it again at any time (decision D3).
 */
export interface VerifiedRedirect extends Verified<'redirect'> {
  readonly ok: true;
}

/**
 * The content of an authentic refusal: its signature is valid, but a rule refuses it. Keep it for manual review; nothing that
 * credits money accepts it.
 */
export interface Evidence extends Verified<'evidence'> {}

const REDACTED = '[redacted: may hold personal data]';

/** What is needed to verify a stored copy of an object again. */
export interface Proof {
  /** The value of `hmac-signature`, without parts of other names. */
  readonly signature: string;
  readonly check: SignatureCheck;
}

/** What an opener reads from behind the private field of a verified object. */
interface Opened {
  readonly kind: Kind;
  /** The JSON text. */
  readonly text: string | undefined;
  /** Missing only if an earlier version of core made the object. */
  readonly proof?: Proof;
}

/** Returns undefined for any other object. */
type Opener = (value: object) => Opened | undefined;

/**
 * Two copies of core can meet in one process (after an update that left two, or in a bundle of ESM and CommonJS). Each accepts
 * what the other verified: each copy adds its opener to a shared list under this registered symbol. An opener checks a private
 * field, which no JSON, spread or borrowed constructor can forge (threat A37). The 1 is the version of `Opener`.
 */
const OPENERS = /* @__PURE__ */ Symbol.for('@payment-service/core/openers/1');

class VerifiedObject {
  readonly ok: boolean;
  readonly kind: Kind;
  readonly signed: SignedFields;
  readonly account: string;
  readonly keyId: string;
  // Behind getters, so that console.dir, assert and {...callback} show no personal data.
  readonly #findings: Findings;
  #unsigned: UnsignedFields | undefined;
  #transitionId: string | undefined;
  #timestamp: Timestamp | undefined;

  constructor(kind: Kind, findings: Findings) {
    this.ok = kind !== 'evidence';
    this.kind = kind;
    this.signed = findings.signed;
    this.account = findings.account;
    this.keyId = findings.keyId;
    this.#findings = findings;
    Object.freeze(this);
  }

  // Computed on first read: many callbacks are only stored or counted.
  get unsigned(): UnsignedFields {
    this.#unsigned ??= readUnsignedFields(this.#findings.claims.claim);
    return this.#unsigned;
  }

  get transitionId(): string {
    this.#transitionId ??= idOf(this.signed, this.account);
    return this.#transitionId;
  }

  get timestamp(): Timestamp {
    this.#timestamp ??= readTimestamp(this.#findings.t, this.#findings.now);
    return this.#timestamp;
  }

  // Frozen, so that a later bodyText() stores what was verified; only on read, since it is rarely read.
  get raw(): Readonly<Record<string, unknown>> {
    return freezeDeep(this.#findings.claims.raw);
  }

  toJSON(): object {
    const { transitionId, timestamp } = this;
    return { ...this, transitionId, timestamp, unsigned: REDACTED, raw: REDACTED };
  }

  static open(value: object): ReturnType<Opener> {
    if (!(#findings in value)) return undefined;
    const { claims, t, s, check } = value.#findings;
    return { kind: value.kind, text: claims.text, proof: { signature: `t=${t},s=${s}`, check } };
  }
}

function freezeDeep<T extends object>(value: T): T {
  const objects: object[] = [value];
  for (const object of objects) {
    if (Object.isFrozen(object)) continue; // So is everything that is not an object.
    for (const inner of Object.values(Object.freeze(object))) objects.push(inner);
  }
  return value;
}

let openers: Opener[] | undefined;

/** Not run when the file is loaded, since every bundle would then have to keep the class. */
function prepareClass({ prototype, open }: typeof VerifiedObject): Opener[] {
  Reflect.deleteProperty(prototype, 'constructor'); // Or `new callback.constructor(…)` would make a verified object.
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), { value: prototype.toJSON });
  if (!Object.hasOwn(globalThis, OPENERS)) Object.defineProperty(globalThis, OPENERS, { value: [] });
  const shared: Opener[] = Reflect.get(globalThis, OPENERS);
  shared.push(open);
  return shared;
}

const KINDS: readonly unknown[] = ['callback', 'redirect', 'evidence'];

/** Tries this copy's opener first. Another opener that throws or is not a function is skipped (threat A49). */
function open(value: object): ReturnType<Opener> {
  openers ??= prepareClass(VerifiedObject);
  for (const opener of [VerifiedObject.open, ...openers]) {
    try {
      const opened = opener(value);
      if (KINDS.includes(opened?.kind)) return opened;
    } catch {
      // This opener recognised nothing.
    }
  }
  return undefined;
}

/** The only place that creates verified objects. */
export function verified<K extends Kind>(kind: K, findings: Findings): Kinds[K] {
  openers ??= prepareClass(VerifiedObject);
  const made: object = new VerifiedObject(kind, findings);
  return made as Kinds[K];
}

/**
 * Refuses everything that `verifyCallback()` did not make: redirects, copies, parsed bodies. For a callback or evidence, it
 * returns the JSON text, or undefined if a body parser read the body first.
 *
 * @throws {ConfigurationError} Says what was passed, and how to find a second copy of this package.
 */
export function openGenuine(
  call: string,
  value: unknown,
  kinds: readonly Kind[],
): { text: string | undefined } {
  const isObject = typeof value === 'object' && value !== null;
  const opened = isObject ? open(value) : undefined;
  if (opened !== undefined && kinds.includes(opened.kind)) return { text: opened.text };
  if (isRefusal(value)) {
    const message = `${call} accepts only a verified callback, but this is a refusal. Check ok first. Its code and hint say why.`;
    throw new ConfigurationError('callback', message);
  }
  throw new ConfigurationError(
    'callback',
    opened === undefined
      ? `${call} accepts only the result of verifyCallback(), not ${kindOf(value)}. A copy or a parsed body proves nothing. If it ` +
          'is that result, two incompatible versions of @payment-service/core are installed: run "npm ls @payment-service/core".'
      : `${call} does not accept a verified ${opened.kind}. Pass the result of verifyCallback().`,
  );
}

function isRefusal(value: unknown): boolean {
  try {
    return Object(value).ok === false && typeof Object(value).hint === 'string';
  } catch {
    return false; // A proxy that throws.
  }
}

/** Undefined for what an earlier version of core verified, and for what no copy verified. */
export const proofOf = (verified: VerifiedCallback | Evidence): Proof | undefined => open(verified)?.proof;

/**
 * Returns the JSON text of a callback for storage: unchanged, or serialised again from `raw` if a body parser read it first. Text
 * that is serialised again can be longer than the original: above 64 KiB, only the contract's fields are kept (threat A48). It may
 * contain a name and a phone number. Store it as bytes or text, not as `jsonb`: a NUL in an unsigned field would make a genuine
 * callback impossible to store (threat A10).
 *
 * @throws {ConfigurationError} When the value does not come from `verifyCallback()`.
 *
 * @example
 * await db.query('insert into evidence (body) values ($1)', [Buffer.from(bodyText(callback))]);
 */
export function bodyText(callback: VerifiedCallback | Evidence): string {
  const { text } = openGenuine('bodyText()', callback, ['callback', 'evidence']);
  if (text !== undefined) return text;
  const written = jsonText(callback.raw);
  if (!isLargerThanBody(written)) return written;
  const { event, ...inPayload } = callback.signed;
  return JSON.stringify({ event, payload: { ...inPayload, ...callback.unsigned } });
}

/**
 * Returns the unsigned fields of a stored body, as `callback.unsigned` had them. They are not proved (protocol §5.2).
 *
 * @param text The result of `bodyText()`.
 *
 * @example
 * unsignedFields(row.body).transaction_charge; // 15
 */
export function unsignedFields(text: string): UnsignedFields {
  const payload = readCallbackBody(text)?.payload;
  return readUnsignedFields((name) => (payload === undefined ? undefined : jsonValue(payload, name)));
}

/**
 * Whether the signed fields say that the transaction completed (protocol §6: event `transaction.completed` with status
 * `COMPLETED`). The protocol does not show other events and statuses: they verify, and this returns false.
 *
 * @example
 * if (!isTransactionCompleted(callback)) return; // another outcome: keep it, and credit nothing
 */
export function isTransactionCompleted(callback: Pick<Verified<Kind>, 'signed'>): boolean {
  try {
    const { event, transaction_status } = callback.signed;
    return event === 'transaction.completed' && transaction_status === 'COMPLETED';
  } catch {
    return false; // Whatever it is, it is not a callback.
  }
}

import { type DigestKey, prepareKey } from '#digest';
import { ConfigurationError } from '../errors.ts';

/** One of several signing keys, for rotation. */
export interface SigningKey {
  /** A name for logs and metrics; never the key itself. */
  readonly id: string;
  /** The signing key as the merchant dashboard shows it (protocol §1). */
  readonly key: string;
  /** After this instant, a signature that only this key makes is refused with `key_expired`; at it, not yet. */
  readonly notAfter?: Date | undefined;
}

/** A checked key, ready for use. Holds no readable copy of the key. */
export interface PreparedKey {
  readonly id: string;
  readonly digestKey: DigestKey;
  /** Milliseconds since 1970, or Infinity. */
  readonly notAfter: number;
}

interface OtherKeys {
  publicKey?: string | undefined;
  secretKey?: string | undefined;
}

const MOST_KEYS = 4;
const WHITE_SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const WHERE = 'It is shown in the merchant dashboard under the account details.';

/**
 * Checks the `signingKey` option. A wrong key is found here, at construction, and not by the first customer whose
 * payment is refused: an empty key computes happily and is forgeable by anyone (threat A19).
 */
export function prepareSigningKeys(
  signingKey: string | readonly SigningKey[] | undefined,
  others: OtherKeys,
): readonly PreparedKey[] {
  if (typeof signingKey === 'string' || signingKey === undefined) {
    checkKey('signingKey', signingKey, others);
    return [{ id: 'default', digestKey: prepareKey(signingKey), notAfter: Number.POSITIVE_INFINITY }];
  }
  if (!Array.isArray(signingKey) || signingKey.length === 0 || signingKey.length > MOST_KEYS) {
    throw new ConfigurationError(
      'signingKey',
      `signingKey must be a string or a list of 1 to ${MOST_KEYS} keys: [{ id, key, notAfter? }].`,
    );
  }
  const prepared = signingKey.map((entry: SigningKey, index) => prepareEntry(entry, index, others));
  if (new Set(prepared.map(({ id }) => id)).size < prepared.length) {
    throw new ConfigurationError('signingKey', 'signingKey holds the same id twice: give every key its own.');
  }
  if (new Set(signingKey.map(({ key }) => key)).size < prepared.length) {
    throw new ConfigurationError('signingKey', 'signingKey holds the same key twice: remove one of them.');
  }
  return prepared;
}

function prepareEntry(entry: SigningKey, index: number, others: OtherKeys): PreparedKey {
  const option = `signingKey[${index}]`;
  if (typeof entry !== 'object' || entry === null) {
    throw new ConfigurationError(option, `${option} must be an object: { id, key, notAfter? }.`);
  }
  const { id, key, notAfter } = entry;
  if (typeof id !== 'string' || id === '') {
    throw new ConfigurationError(
      `${option}.id`,
      `${option}.id must be a text: a name for logs, such as "2026-11".`,
    );
  }
  checkKey(`${option}.key`, key, others);
  if (notAfter !== undefined && !(notAfter instanceof Date && Number.isFinite(notAfter.getTime()))) {
    throw new ConfigurationError(
      `${option}.notAfter`,
      `${option}.notAfter must be a valid Date, or be left out.`,
    );
  }
  return { id, digestKey: prepareKey(key), notAfter: notAfter?.getTime() ?? Number.POSITIVE_INFINITY };
}

function checkKey(option: string, key: unknown, others: OtherKeys): asserts key is string {
  const refuse = (what: string): never => {
    throw new ConfigurationError(option, `${option} ${what} ${WHERE}`);
  };
  if (typeof key !== 'string') refuse('is missing: is the environment variable set?');
  else if (key === '') refuse('is empty: is the environment variable set?');
  else if (key === 'undefined' || key === 'null') {
    refuse(`is the text "${key}", which is what an unset variable turns into.`);
  } else if (WHITE_SPACE_OR_CONTROL.test(key)) {
    refuse('holds white space or a control character, often a line break at the end of a file: remove it.');
  } else if (!key.isWellFormed()) refuse('is not well-formed Unicode.');
  else if (key === others.publicKey) refuse('is the public key: give the signing key.');
  else if (key === others.secretKey) refuse('is the secret key: give the signing key.');
  else if (key.startsWith('SANDBOX') && isProduction()) {
    refuse('is a key of the sandbox, and NODE_ENV is production: anyone can know such a key.');
  }
}

function isProduction(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.['NODE_ENV'] === 'production';
}

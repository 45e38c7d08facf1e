import { type Hmac, prepareKey } from '#digest';
import { ConfigurationError } from '../errors.ts';
import { checkKey } from '../key-check.ts';

/** One of several signing keys, for rotation. */
export interface SigningKey {
  /** A name for logs and metrics, never the key itself. */
  readonly id: string;
  /** The signing key as the merchant dashboard shows it (protocol §1). */
  readonly key: string;
  /** From the next millisecond on, a signature that only this key makes is refused as `key_expired`. */
  readonly notAfter?: Date | undefined;
}

/** A checked key, ready for use. Holds no readable copy of the key. */
export interface PreparedKey {
  readonly id: string;
  readonly hmac: Hmac;
  /** Milliseconds since 1970, or Infinity. */
  readonly notAfter: number;
}

interface KeyOptions {
  readonly publicKey?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly allowSandboxKeys?: boolean | undefined;
}

const MAX_KEYS = 4;
/** Of random letters and digits, 16 are 95 bits. */
const MIN_LENGTH = 16;
const WHERE = 'The signing key is shown in the merchant dashboard, under the account details.';

/**
 * Checks the `signingKey` option at construction, so that a wrong key is not found by the first customer whose payment is
 * refused (decision D7).
 *
 * @throws {ConfigurationError} Names the option.
 */
export function prepareSigningKeys(
  signingKey: string | readonly SigningKey[] | undefined,
  options: KeyOptions,
): readonly PreparedKey[] {
  if (typeof signingKey === 'string' || signingKey === undefined) {
    checkSigningKey('signingKey', signingKey, options);
    return [{ id: 'default', hmac: prepareKey(signingKey), notAfter: Number.POSITIVE_INFINITY }];
  }
  if (!Array.isArray(signingKey) || signingKey.length === 0 || signingKey.length > MAX_KEYS) {
    throw new ConfigurationError(
      'signingKey',
      `signingKey must be a string or a list of 1 to ${MAX_KEYS} keys: [{ id, key, notAfter? }].`,
    );
  }
  const prepared = signingKey.map((entry: SigningKey, index) => prepareEntry(entry, index, options));
  const isUnique = (values: readonly string[]): boolean => new Set(values).size === prepared.length;
  if (!isUnique(prepared.map(({ id }) => id)) || !isUnique(signingKey.map(({ key }) => key))) {
    throw new ConfigurationError('signingKey', 'Two entries of signingKey share an id or a key.');
  }
  return prepared;
}

function prepareEntry(entry: SigningKey, index: number, options: KeyOptions): PreparedKey {
  const option = `signingKey[${index}]`;
  if (typeof entry !== 'object' || entry === null) {
    throw new ConfigurationError(option, `${option} must be an object: { id, key, notAfter? }.`);
  }
  const { id, key, notAfter } = entry;
  if (typeof id !== 'string' || id === '') {
    throw new ConfigurationError(`${option}.id`, `${option}.id must be a name for logs, such as "2026-11".`);
  }
  checkSigningKey(`${option}.key`, key, options);
  if (notAfter !== undefined && !(notAfter instanceof Date && Number.isFinite(notAfter.getTime()))) {
    throw new ConfigurationError(
      `${option}.notAfter`,
      `${option}.notAfter must be a valid Date, or be left out.`,
    );
  }
  return { id, hmac: prepareKey(key), notAfter: notAfter?.getTime() ?? Number.POSITIVE_INFINITY };
}

function checkSigningKey(option: string, key: unknown, options: KeyOptions): asserts key is string {
  checkKey(option, key, WHERE);
  const refuse = (what: string): never => {
    throw new ConfigurationError(option, `${option} ${what}`);
  };
  if (key === options.publicKey) refuse(`is the public key. ${WHERE}`);
  if (key === options.secretKey) refuse(`is the secret key. ${WHERE}`);
  if (key.startsWith('SANDBOX')) checkSandboxKey(option, options.allowSandboxKeys === true);
  else if (key.length < MIN_LENGTH) {
    warnOnce(`${option} has fewer than ${MIN_LENGTH} characters, so it can be guessed. ${WHERE}`);
  }
}

/** Anyone can know a sandbox key, so a program that may serve customers does not take one (threat A27). */
function checkSandboxKey(option: string, isAllowed: boolean): void {
  if (isAllowed) return;
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const environment = process?.env?.['NODE_ENV'] ?? '';
  if (environment === 'development' || environment === 'test') return;
  if (environment === '') {
    warnOnce(`${option} is a sandbox key, and NODE_ENV is not set. Never use a sandbox key in production.`);
    return;
  }
  throw new ConfigurationError(
    option,
    `${option} is a sandbox key, which anyone can know, and NODE_ENV is "${environment}". Use the signing key of the ` +
      'account, or set allowSandboxKeys where no customer pays.',
  );
}

const warned = new Set<string>();

function warnOnce(warning: string): void {
  if (warned.has(warning)) return;
  warned.add(warning);
  console.warn(`@payment-service/core: ${warning}`);
}

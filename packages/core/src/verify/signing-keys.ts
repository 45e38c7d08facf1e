import { prepareKey } from '#digest';
import { ConfigurationError } from '../errors.ts';
import { notDevelopment } from '../options/environment.ts';
import { checkKey, checkOptions, kindOf, type OptionRules, REQUIRED } from '../options/options.ts';

/** One of several signing keys, for rotation. */
export interface SigningKey {
  /** A name for logs and metrics, never the key itself. */
  readonly id: string;
  /** The signing key as the merchant dashboard shows it (protocol §1). */
  readonly key: string;
  /** From the next millisecond on, a signature that only this key matches is refused as `key_expired`. */
  readonly notAfter?: Date | undefined;
}

/** A checked key, ready for use. Contains no readable copy of the key. */
export interface PreparedKey {
  readonly id: string;
  /** Not typed as `Hmac`: declarations that import #digest fail in tools that do not read "imports". */
  readonly hmac: (message: string) => string;
  /** Milliseconds since 1970, or Infinity. */
  readonly notAfter: number;
}

export interface KeyOptions {
  /**
   * The account's key for callback and redirect signatures (protocol §1), or up to four keys for rotation. `undefined`
   * compiles, so that you can pass `process.env.SIGNING_KEY` directly, and throws at construction.
   */
  readonly signingKey: string | readonly SigningKey[] | undefined;
  /** If given, a signing key that equals it is refused at construction. */
  readonly publicKey?: string | undefined;
  /** If given, a signing key that equals it is refused at construction. */
  readonly secretKey?: string | undefined;
  /**
   * Accepts a sandbox key whatever NODE_ENV is. For test systems that customers cannot reach, and for runtimes without an
   * environment.
   *
   * @default false: only with NODE_ENV `development` or `test`
   */
  readonly allowSandboxKeys?: boolean | undefined;
}

const MAX_KEYS = 4;
/** 16 random letters and digits have 95 bits. */
const MIN_LENGTH = 16;
const WHERE = 'The dashboard shows it under the account details.';

const ENTRY_RULES: OptionRules<SigningKey> = {
  id: [(id) => typeof id === 'string' && id !== '', 'a name for logs', REQUIRED],
  key: undefined,
  notAfter: [(date) => date instanceof Date && Number.isFinite(date.getTime()), 'a valid Date'],
};

/**
 * Checks the signing keys at construction, so that a wrong key is not first discovered when a customer's payment is refused
 * (decision D7).
 *
 * @throws {ConfigurationError} Names the option.
 */
export function prepareSigningKeys(options: KeyOptions): readonly PreparedKey[] {
  const { signingKey: given } = options;
  if (typeof given === 'string' || given === undefined) {
    return [prepare('signingKey', { id: 'default', key: given }, options)];
  }
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_KEYS) {
    const shape = `a string or a list of 1 to ${MAX_KEYS} { id, key, notAfter? }`;
    refuse('signingKey', `must be ${shape}. It is ${kindOf(given)}.`);
  }
  const prepared = given.map((entry: SigningKey, index) => {
    const option = `signingKey[${index}]`;
    checkOptions(option, entry, ENTRY_RULES, `${option}.`);
    return prepare(`${option}.key`, entry, options);
  });
  const different = new Set(given.flatMap(({ id, key }: SigningKey) => [`id ${id}`, `key ${key}`]));
  if (different.size < 2 * given.length) {
    refuse('signingKey', 'repeats an id or a key.');
  }
  return prepared;
}

type GivenKey = Omit<SigningKey, 'key'> & { readonly key: unknown };

function prepare(option: string, { id, key, notAfter }: GivenKey, options: KeyOptions): PreparedKey {
  checkKey(option, key, WHERE);
  const { publicKey, secretKey, allowSandboxKeys } = options;
  if (key === publicKey || key === secretKey) {
    const which = key === publicKey ? 'public' : 'secret';
    refuse(option, `is the ${which} key. ${WHERE}`);
  }
  // Sandbox keys name their purpose, so that a mix-up is detected before a callback is refused.
  const [, purpose] = /^SANDBOX(PUBLIC|SECRET)/.exec(key) ?? [];
  if (purpose !== undefined) refuse(option, `is a ${purpose} key of a sandbox. Use its signing key.`);
  if (key.startsWith('SANDBOX')) {
    if (allowSandboxKeys !== true) checkSandboxKey(option);
  } else if (/[^\da-z]/i.test(key)) {
    // Protocol §1. Only a warning, since there are too few samples to refuse a key.
    warnOnce(
      `${option} has a character other than letters and digits, so it is probably another key. ${WHERE}`,
    );
  } else if (key.length < MIN_LENGTH) {
    warnOnce(`${option} has fewer than ${MIN_LENGTH} characters, so it can be guessed. ${WHERE}`);
  }
  return { id, hmac: prepareKey(key), notAfter: notAfter?.getTime() ?? Number.MAX_VALUE };
}

/** Anyone can know a sandbox key, so a program that may serve customers refuses one (threat A27). */
function checkSandboxKey(option: string): void {
  const environment = notDevelopment();
  if (environment === undefined) return;
  refuse(
    option,
    `is a sandbox key, and ${environment}. In production, use the signing key of the account. For development, set NODE_ENV=development. For a test system, see allowSandboxKeys.`,
  );
}

function refuse(option: string, problem: string): never {
  throw new ConfigurationError(option, `${option} ${problem}`);
}

const warned = new Set<string>();

/** Warns once in the life of the process. */
export function warnOnce(warning: string): void {
  if (warned.has(warning)) return;
  warned.add(warning);
  console.warn(`@payment-service/core: ${warning}`);
}

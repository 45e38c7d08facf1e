import { ConfigurationError } from '../errors.ts';

/** The two keys of request authentication (protocol §5.1). */
export interface RequestKeys {
  readonly publicKey: string;
  readonly secretKey: string | undefined;
}

const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * Checks both keys at construction. A header cannot carry white space, a line break or a letter beyond ASCII; fetch
 * would print the value in its error, or trim it silently.
 *
 * @throws {ConfigurationError} that names the option, never the value.
 */
export function checkRequestKeys(options: { publicKey?: unknown; secretKey?: unknown }): RequestKeys {
  const publicKey = checkKey('publicKey', options.publicKey);
  // Present and undefined is an unset environment variable, not a client without balances.
  const secretKey = 'secretKey' in options ? checkKey('secretKey', options.secretKey) : undefined;
  if (publicKey === secretKey) {
    throw new ConfigurationError('secretKey', 'secretKey is the public key: give the secret key.');
  }
  return { publicKey, secretKey };
}

function checkKey(option: string, key: unknown): string {
  const refuse = (why: string): never => {
    throw new ConfigurationError(option, `${option} ${why}`);
  };
  if (typeof key !== 'string' || key === '') return refuse('is missing: is the environment variable set?');
  if (key === 'undefined' || key === 'null') {
    return refuse(`is the text "${key}", which is what an unset variable turns into.`);
  }
  if (!HEADER_SAFE.test(key)) {
    return refuse('holds white space, a line break or a character beyond ASCII: copy the key again.');
  }
  return key;
}

import { ConfigurationError } from '../../errors.ts';
import { environmentVariable, isLoopback } from '../../options/environment.ts';
import { kindOf } from '../../options/options.ts';

/** A checked `baseUrl`. */
export interface BaseUrl {
  /** Without a trailing slash, so that a path can be appended: `new URL('/data', base)` would drop the prefix. */
  readonly text: string;
  readonly isEncrypted: boolean;
}

const HTTP_ADDRESS = /^(https?):\/\/[^\s\\?#@]+$/i;

/**
 * Reads the `baseUrl` option. Keys are sent to this address, so nothing in it is guessed or repaired.
 *
 * @throws {ConfigurationError} naming the option, not its value, which may contain a password.
 */
export function parseBaseUrl(given: unknown, insecureHosts: readonly string[] = []): BaseUrl {
  if (given === undefined || given === null || given === '' || given === 'undefined' || given === 'null') {
    refuse('is missing. Is the environment variable set? Use the address that came with the account.');
  }
  const value = given instanceof URL ? given.href : given;
  if (typeof value !== 'string') refuse(`must be a string or a URL. It is ${kindOf(value)}.`);
  const url = HTTP_ADDRESS.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) {
    refuse(
      'must be an address such as https://host or https://host/prefix, without a user name, query, fragment or white space.',
    );
  }
  const isEncrypted = url.protocol === 'https:';
  const isAllowed = insecureHosts.includes(url.hostname) || insecureHosts.includes(url.host);
  if (!isEncrypted && !isAllowed && !isLoopback(url.hostname)) {
    refuse(
      'must start with https://. http:// is for this machine only (localhost, 127.0.0.1, [::1]). For a container on a ' +
        'private network, name its host in allowInsecureHost. Anyone on the path can then read the keys and change the responses.',
    );
  }
  return { text: `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, ''), isEncrypted };
}

function refuse(why: string): never {
  throw new ConfigurationError('baseUrl', `baseUrl ${why}`);
}

/** Shared by all copies of this package in the process. */
const UNVERIFIED_TLS_SEEN = Symbol.for('@payment-service/core: certificate checks were off');

/**
 * Remembers, for the life of the process, that Node accepted every certificate. A TLS session from that time can be
 * resumed after the variable is gone, and resumption verifies nothing (threat A35).
 *
 * Called when a client is created and before every call, with or without the secret key, since Node reads the variable for
 * every connection.
 *
 * @throws {ConfigurationError} naming `allowUnverifiedTls` if the secret key could reach an unverified peer.
 */
export function checkTls(base: BaseUrl, isSecretSent: boolean, isAllowed: boolean): void {
  if (environmentVariable('NODE_TLS_REJECT_UNAUTHORIZED') === '0')
    Reflect.set(globalThis, UNVERIFIED_TLS_SEEN, true);
  if (isAllowed || !isSecretSent || !base.isEncrypted) return;
  if (Reflect.get(globalThis, UNVERIFIED_TLS_SEEN) !== true) return;
  throw new ConfigurationError(
    'allowUnverifiedTls',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is or was set in this process, and Node may still use connections that it did not ' +
      "verify, so the secret key is not sent. Remove the variable, add the service's certificate authority with " +
      'NODE_EXTRA_CA_CERTS, and restart. Outside production you can set allowUnverifiedTls instead.',
  );
}

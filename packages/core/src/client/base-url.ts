import { ConfigurationError } from '../errors.ts';

/** A checked `baseUrl`. */
export interface BaseUrl {
  /** Without a slash at the end, so that a path is joined to it as text: `new URL('/data', base)` would drop the prefix. */
  readonly text: string;
  /** Host and port, for messages. */
  readonly host: string;
  readonly isEncrypted: boolean;
}

const HTTP_ADDRESS = /^(https?):\/\/[^\s\\?#@]+$/i;
/** The URL parser has already turned `127.1` and `0x7f000001` into this form. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Reads the `baseUrl` option. Keys travel to this address, so it is taken literally or not at all.
 *
 * @throws {ConfigurationError} that names the option and not its value, which may hold a password.
 */
export function parseBaseUrl(value: unknown): BaseUrl {
  if (typeof value !== 'string' || value === '' || value === 'undefined' || value === 'null') {
    refuse('is missing: is the environment variable set? Give the address that came with the account.');
  }
  const url = HTTP_ADDRESS.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) {
    refuse(
      'must be an address such as https://host or https://host/prefix, without user name, query, fragment or white space.',
    );
  }
  const isEncrypted = url.protocol === 'https:';
  if (!isEncrypted && !LOOPBACK.test(url.hostname)) {
    refuse('must start with https://. http:// is for this machine only: localhost, 127.0.0.1 or [::1].');
  }
  return { text: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), host: url.host, isEncrypted };
}

function refuse(why: string): never {
  throw new ConfigurationError('baseUrl', `baseUrl ${why}`);
}

import { ConfigurationError } from '@payment-service/core';
import { isLoopback } from '@payment-service/core/internal';
import { refuse } from './refusal.ts';

/**
 * Whether the sandbox responds under this host and sends callbacks to it: this computer, or a listed host. Names are compared
 * as written and never resolved, so a name for 127.0.0.1 must be listed as well.
 */
export function isAllowedHost({ hostname, host }: URL, allowedHosts: readonly string[]): boolean {
  return isLoopback(hostname) || allowedHosts.includes(hostname) || allowedHosts.includes(host);
}

/** @throws {ConfigurationError} for an entry that could never match, such as a URL or a name with capitals. */
export function checkAllowedHosts(allowedHosts: readonly string[]): void {
  const wrong = allowedHosts.find((entry) => URL.parse(`http://${entry}`)?.host !== entry);
  if (wrong === undefined) return;
  const message = `allowedHosts: ${JSON.stringify(wrong)} never matches. Write a host name in lower case, with a port other than 80 if needed, such as shop or shop:3000.`;
  throw new ConfigurationError('allowedHosts', message);
}

/**
 * Why the sandbox would not send a callback to this address; undefined if it would. Loopback only, unless the host is listed:
 * no request may make the sandbox contact other machines (threat A27).
 */
export function destinationProblem(address: string, allowedHosts: readonly string[]): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be an http or https address, such as http://127.0.0.1:3000/callbacks';
  }
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  if (isAllowedHost(url, allowedHosts)) return undefined;
  return 'must be on this computer (127.0.0.1, [::1] or localhost). List the host in allowedHosts to deliver elsewhere';
}

/** Where callbacks may be sent. */
export function checkDestination(callbackUrl: string, allowedHosts: readonly string[]): void {
  const problem = destinationProblem(callbackUrl, allowedHosts);
  if (problem !== undefined) refuse('destination_refused', `callback_url: ${problem}.`, 'callback_url');
}

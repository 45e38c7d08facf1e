import { isAllowedHost } from '../http/hosts.ts';

/**
 * Why the sandbox would not send a callback to this address, or undefined when it would. Loopback only, unless the host
 * is listed: a request must not make the sandbox talk to the machines around it (threat A27).
 */
export function destinationProblem(address: string, allowedHosts: readonly string[]): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be an http or https address, such as http://127.0.0.1:3000/callbacks';
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  if (isAllowedHost(url, allowedHosts)) return undefined;
  return 'must be on this computer (127.0.0.1, [::1] or localhost). List the host in allowedHosts to deliver elsewhere';
}

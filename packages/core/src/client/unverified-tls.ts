import { ConfigurationError } from '../errors.ts';
import type { BaseUrl } from './base-url.ts';

/**
 * Refuses to send the secret key where Node has been told to accept every certificate: anybody on the way could read
 * it. Asked at construction and before every call, since Node reads the variable for every connection.
 *
 * @throws {ConfigurationError} that names the option which allows it.
 */
export function refuseUnverifiedTls(base: BaseUrl, isAllowed: boolean): void {
  if (isAllowed || !base.isEncrypted) return;
  if (readVariable() !== '0') return;
  throw new ConfigurationError(
    'allowUnverifiedTls',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts every certificate, so the secret key is not sent. Remove the variable and ' +
      "add the service's certificate authority with NODE_EXTRA_CA_CERTS, or set allowUnverifiedTls outside production.",
  );
}

function readVariable(): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.['NODE_TLS_REJECT_UNAUTHORIZED'];
  } catch {
    // Deno without the permission to read it: then nothing else in the process can have taken it from there either.
    return undefined;
  }
}

/** An environment variable; undefined if there is no environment, or no permission to read it. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name];
  } catch {
    // Deno without permission: a program that must run there cannot rely on variables.
    return undefined;
  }
}

/**
 * Describes NODE_ENV for messages; undefined if it is `development` or `test`. With anything else, development features refuse to
 * run (threats A27 and A45). That includes an unset NODE_ENV, as on most servers.
 */
export function notDevelopment(): string | undefined {
  const environment = environmentVariable('NODE_ENV') ?? '';
  if (['development', 'test'].includes(environment)) return undefined;
  return environment === '' ? 'NODE_ENV is not set' : `NODE_ENV is "${environment}"`;
}

/** The URL parser has already turned `127.1` and `0x7f000001` into this form. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a URL's hostname (as `URL.hostname` writes it) is this computer: localhost, 127.0.0.0/8 or [::1]. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

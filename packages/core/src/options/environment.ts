/** An environment variable, where there is an environment that may be read. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name];
  } catch {
    // Deno without permission to read it: a program that must run there cannot rely on variables.
    return undefined;
  }
}

/**
 * What NODE_ENV is, as messages say it, unless it is `development` or `test`. What is only for development refuses to run then
 * (threats A27 and A45): most servers run with no NODE_ENV.
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

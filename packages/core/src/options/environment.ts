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
 * The value of NODE_ENV where customers may be served: any value except `development`, `test` and unset. Development-only
 * features refuse to run there (threats A27 and A45).
 */
export function servingEnvironment(): string | undefined {
  const environment = environmentVariable('NODE_ENV') ?? '';
  return ['', 'development', 'test'].includes(environment) ? undefined : environment;
}

/** The URL parser has already turned `127.1` and `0x7f000001` into this form. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a URL's hostname (as `URL.hostname` writes it) is this computer: localhost, 127.0.0.0/8 or [::1]. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/** An environment variable, where there is an environment that may be read. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name];
  } catch {
    // Deno without the permission to read it. A program that has to run there has no variable to go by.
    return undefined;
  }
}

/**
 * The value of NODE_ENV where customers may be served: every one but `development`, `test` and none. What is for development
 * only does not run there (threats A27 and A45).
 */
export function servingEnvironment(): string | undefined {
  const environment = environmentVariable('NODE_ENV') ?? '';
  return ['', 'development', 'test'].includes(environment) ? undefined : environment;
}

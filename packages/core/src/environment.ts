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

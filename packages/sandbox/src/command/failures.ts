/** An expected failure of a command: the message says everything. */
export class CommandError extends Error {
  readonly exitCode: number = 1;
}

/** A usage error. */
export class UsageError extends CommandError {
  override readonly exitCode = 2;
}

/** Whether an error has this code of the operating system. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Why the command cannot run on this Node, in words; undefined when it can. `node:sqlite` exists since 22.13. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return undefined;
  return `This is Node ${version}, and the sandbox needs Node 22.13 or later. Your own program may run on an older one: start it separately, with the keys of --keys-file.`;
}

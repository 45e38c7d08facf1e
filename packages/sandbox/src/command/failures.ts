import { getSystemErrorMap } from 'node:util';

/** An expected failure of a command: the message says everything. */
export class CommandError extends Error {
  readonly exitCode: number = 1;
}

/** A usage error. */
export class UsageError extends CommandError {
  override readonly exitCode = 2;
}

/** Why the operating system refused it, such as "permission denied". */
export function reasonOf(error: unknown): string {
  const { errno, message }: Readonly<Record<string, unknown>> = Object(error);
  const [, reason = String(message)] = getSystemErrorMap().get(Number(errno)) ?? [];
  return reason;
}

/** Whether an error has one of these operating-system codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

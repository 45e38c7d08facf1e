import { spawnSync } from 'node:child_process';

/**
 * Looks for a system program, which npm does not have.
 *
 * @param name of the program; it knows the flag `--version`.
 * @returns undefined if it can be started; otherwise a sentence that says what to do.
 */
export function installed(name: string): string | undefined {
  if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) return undefined;
  return `${name} is not installed. Install it with the package manager of your system, and run this command again.`;
}

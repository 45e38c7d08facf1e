import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PATH = join(import.meta.dirname, '../../src/command/command.ts');

/** Runs payment-service-inbox in a process of its own, in the folder of this package, in a pipe. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return run(process.execPath, [PATH, ...args], env);
}

/** The same on a pseudo-terminal, by `script`, whose arguments differ between Linux and the BSDs. */
export function runOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const command = [process.execPath, PATH, ...args];
  const quoted = command.map((each) => `'${each}'`).join(' ');
  const own = process.platform === 'linux' ? ['-qec', quoted, '/dev/null'] : ['-q', '/dev/null', ...command];
  return run('script', own, { TERM: 'xterm-256color', ...env });
}

function run(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  // Nothing of this process's own: vitest sets FORCE_COLOR or NO_COLOR.
  const { PATH: path, NODE_COMPILE_CACHE } = process.env;
  const own = { PATH: path, NODE_COMPILE_CACHE, SHELL: '/bin/sh', ...env };
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      { cwd: join(import.meta.dirname, '../..'), env: own },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
    child.stdin?.end();
  });
}

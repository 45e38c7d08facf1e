import { spawn } from 'node:child_process';

/** The result of a program that has ended. */
export interface ProgramResult {
  readonly code: number | null;
  readonly output: string;
}

/** Ends a program that hangs. */
const DEADLINE_MS = 60_000;

/** Runs a program to its end, without a shell. Its output is stdout and stderr in the order of their arrival. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<ProgramResult> {
  const child = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A real process of the test, which runs one of the programs next to this file; the command may start it. */
export function startChild(
  program: string,
  args: readonly string[],
  command: readonly string[] = [],
): { readonly ended: Promise<Ended>; kill(signal: NodeJS.Signals): void } {
  const own = [process.execPath, resolve(import.meta.dirname, 'programs', program), ...args];
  const [first = '', ...others] = [...command, ...own];
  const child = spawn(first, others, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, output }));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { ended, kill: (signal) => void child.kill(signal) };
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const SOURCES = join(import.meta.dirname, '../../src');

export interface Program {
  readonly process: ChildProcessWithoutNullStreams;
  /** Resolves with everything printed so far once the string has appeared, and rejects if the program ends without it. */
  readonly printed: (text: string) => Promise<string>;
  /** Resolves when the program has ended. */
  readonly ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
}

/** Starts one of the shop's programs. Killed when the test has finished. */
export function run(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Program {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, [join(SOURCES, file), ...args], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));
  const printed = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (stdout.includes(text)) resolve(stdout);
      };
      child.stdout.on('data', look);
      look();
      void ended.then(() => reject(new Error(`It ended without "${text}": ${stdout}${stderr}`)));
    });
  return { process: child, printed, ended };
}

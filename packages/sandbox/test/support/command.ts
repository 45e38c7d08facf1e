import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../../src/command.ts', import.meta.url));

/** The command as a process of its own. */
export interface Command {
  readonly process: ChildProcess;
  /** The address that it printed. */
  readonly url: string;
  /** The keys that it printed, as request headers. */
  readonly keys: Record<string, string>;
  output(): string;
  /** Sends a signal, and resolves with the exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | string | null>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where the commands of this process start, since they keep a file there. */
export const workingDirectory: string = mkdtempSync(join(tmpdir(), 'sandbox-command-'));
process.once('exit', () => rmSync(workingDirectory, { recursive: true }));

function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [path, ...args], {
    cwd: workingDirectory,
    env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    text.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.stderr += chunk;
  });
  return { child, text };
}

/** Runs the command until it ends by itself. */
export async function runCommand(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const { child, text } = run(args, env);
  const [code] = await once(child, 'close');
  return { code, ...text };
}

/** Starts the command, and resolves when it has printed its address and its keys. */
export async function startCommand(args: readonly string[]): Promise<Command> {
  const { child, text } = run(args);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => text.stdout.includes('Ctrl-C stops it.') && resolve());
    child.once('exit', (code) => reject(new Error(`The command ended with ${code}: ${text.stderr}`)));
  });
  const found = (pattern: RegExp): string => pattern.exec(text.stdout)?.[1] ?? '';
  return {
    process: child,
    url: found(/(http:\/\/\S+)/),
    keys: {
      'public-key': found(/public key +(\S+)/),
      'secret-key': found(/secret key +(\S+)/),
    },
    output: () => text.stdout + text.stderr,
    stop: async (signal) => {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by;
    },
  };
}

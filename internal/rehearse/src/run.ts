import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program, its arguments and its folder. `env` is added to the environment of this process. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that runs, and all that it has printed. */
export interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
}

const MAX_RUN_MS = 300_000;
const MAX_ENDING_MS = 10_000;
const SHOWN_LINES = 25;

const SCRIPT = /^(npm_|NODE_ENV$|NODE_OPTIONS$|NODE_PATH$|TURBO_|VITEST|INIT_CWD$)/i;
const KEPT = /^npm_(execpath|config_(registry|userconfig|globalconfig|cafile|proxy|https_proxy|noproxy))$/i;

/** What a script of a package manager leaves behind, and would configure another, stays out; the registry stays. */
function environment(added: Command['env'] = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !SCRIPT.test(name) || KEPT.test(name));
  return { ...Object.fromEntries(kept), CI: '1', NEXT_TELEMETRY_DISABLED: '1', ...added };
}

/** Starts a program without a shell. */
export function start({ command, args, cwd, env }: Command): Running {
  const child = spawn(command, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.on('error', (error) => (output += error.message));
  return { child, output: () => output };
}

/**
 * Runs a program to its end.
 *
 * @returns all that it has printed.
 * @throws {Error} with the end of its output when it ends with anything but 0.
 */
export async function run(command: Command): Promise<string> {
  const { child, output } = start(command);
  const late = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS);
  const code = await closed(child);
  clearTimeout(late);
  if (code !== 0) {
    const line = [command.command.split('/').at(-1), ...command.args].join(' ');
    throw new Error(`${line} ended with ${code}:\n${lastLines(output())}`);
  }
  return output();
}

/** Asks a program to end, and ends it where it does not. Its exit code, or null when a signal ended it. */
export async function stop({ child }: Running): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = closed(child);
  child.kill();
  const late = setTimeout(() => child.kill('SIGKILL'), MAX_ENDING_MS);
  await ended;
  clearTimeout(late);
  return child.exitCode;
}

/** Waits for a program that ends without being asked. */
export async function ended(running: Running): Promise<number | null> {
  const { child } = running;
  if (child.exitCode === null && child.signalCode === null) {
    const late = setTimeout(() => child.kill('SIGKILL'), MAX_ENDING_MS);
    await closed(child);
    clearTimeout(late);
  }
  return child.exitCode;
}

export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-SHOWN_LINES).join('\n');
}

async function closed(child: ChildProcess): Promise<number | null> {
  // A program that cannot be started reports an error, and never closes.
  await Promise.race([once(child, 'close'), new Promise((resolve) => child.once('error', resolve))]);
  return child.exitCode;
}

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { emptyFolder } from './folders.ts';

const HOST = fileURLToPath(new URL('programs/command-host.ts', import.meta.url));
const path = fileURLToPath(new URL('../../src/command/command.ts', import.meta.url));
/** Node keeps compiled modules here, which halves the start of the command. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The folder in which it runs. @default an empty one */
  readonly cwd?: string;
  /** What it reads from standard input. */
  readonly input?: string;
  /** Keys that are pressed on the terminal once it has printed something. */
  readonly keys?: { readonly after: string; readonly press: string };
}

/** The command as a separate process. */
export interface Command {
  /** The folder in which it runs. */
  readonly cwd: string;
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

/** Without this process's own environment. */
function ownEnvironment(env: RunOptions['env']): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE = CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE, NODE_ENV: 'test', SHELL: '/bin/sh', ...env };
}

function run(file: string, args: readonly string[], { env, cwd, input, keys }: RunOptions) {
  const folder = cwd ?? emptyFolder();
  const child = spawn(file, args, {
    cwd: folder,
    env: ownEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (keys === undefined) child.stdin.end(input);
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    const isPrinted = keys !== undefined && text.stdout.includes(keys.after);
    text.stdout += chunk;
    if (keys !== undefined && !isPrinted && text.stdout.includes(keys.after)) child.stdin.write(keys.press);
  });
  child.stderr.on('data', (chunk) => {
    text.stderr += chunk;
  });
  return { child, text, cwd: folder };
}

/** Runs a program in a pipe until it ends. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { child, text } = run(file, args, options);
  const [code] = await once(child, 'close');
  return { code, ...text };
}

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command until it ends. Runs that neither read nor start a program share one process, one after another: loading the
 * command is most of the cost of a separate process.
 */
export function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  if (options.input !== undefined || args.includes('--'))
    return runProgram(process.execPath, [path, ...args], options);
  const { env, cwd = emptyFolder() } = options;
  let isEnded = false;
  // A run that hangs fails its own test only.
  onTestFinished(() => {
    if (isEnded) return;
    host?.kill('SIGKILL');
    [host, last] = [undefined, Promise.resolve()];
  });
  const running = last.then(async () => {
    host ??= fork(HOST, { env: ownEnvironment({}), execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    host.send({ args, cwd, env: ownEnvironment(env) });
    const [ended] = await once(host, 'message');
    isEnded = true;
    return ended as Ended;
  });
  last = running;
  return running;
}

/** Runs it on a pseudo-terminal of `script`, whose arguments differ between Linux and the BSDs. */
export function runOnTerminal(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const command = [process.execPath, path, ...args];
  const quoted = command.map((each) => `'${each}'`).join(' ');
  const own =
    process.platform === 'linux' ? ['-qec', `exec ${quoted}`, '/dev/null'] : ['-q', '/dev/null', ...command];
  const env = { TERM: 'xterm-256color', ...options.env };
  return runProgram('script', own, { ...options, env });
}

/** Starts the command, and resolves when it has printed one of its outputs, by default all of its introduction. */
export async function startCommand(
  args: readonly string[],
  options: RunOptions & { readonly until?: string } = {},
): Promise<Command> {
  const { child, text, cwd } = run(process.execPath, [path, ...args], options);
  const { until = 'Ctrl-C stops it.' } = options;
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (`${text.stdout}${text.stderr}`.includes(until)) resolve();
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('exit', (code) => reject(new Error(`The command ended with ${code}: ${text.stderr}`)));
  });
  const found = (pattern: RegExp): string => pattern.exec(text.stdout)?.[1] ?? '';
  return {
    cwd,
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

import { type ChildProcess, spawn } from 'node:child_process';

/** A program, its arguments and its folder. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** `env` is the whole environment, so that the program does not depend on this computer. */
  readonly isAlone?: boolean;
}

/** A running program. */
export interface Running {
  readonly child: ChildProcess;
  /** Its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly stdout: () => string;
  /** What it has written to both streams. */
  readonly output: () => string;
}

const MAX_RUN_MS = 300_000;
const MAX_ENDING_MS = 10_000;
const SHOWN_LINES = 25;

const SCRIPT = /^(npm_|NODE_ENV$|NODE_OPTIONS$|NODE_PATH$|TURBO_|VITEST|INIT_CWD$)/i;
const KEPT = /^npm_(execpath|config_(registry|userconfig|globalconfig|cafile|proxy|https_proxy|noproxy))$/i;

/**
 * Without the variables that a package manager sets for its scripts and another one would read, but with those of the registry.
 */
function environment({ env, isAlone }: Command): NodeJS.ProcessEnv {
  // Programs share Node's compile cache of the packages, which changes nothing else.
  if (isAlone) return { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env };
  const kept = Object.entries(process.env).filter(([name]) => !SCRIPT.test(name) || KEPT.test(name));
  return { ...Object.fromEntries(kept), CI: '1', NEXT_TELEMETRY_DISABLED: '1', ...env };
}

/** Starts a program without a shell. It is killed after five minutes. */
export function start(program: Command): Running {
  const { command, args, cwd } = program;
  const child = spawn(command, args, {
    cwd,
    env: environment(program),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_RUN_MS,
    killSignal: 'SIGKILL',
  });
  let [stdout, output] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.on('error', ({ message }) => (output += message));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, stdout: () => stdout, output: () => output };
}

/**
 * Asks a running program until it has reached what its caller waits for.
 *
 * @param otherwise what is wrong if it does not.
 * @throws {Error} with its output, if it ends before that or takes longer than `ms`.
 */
export async function until(
  { child, output }: Running,
  isReached: () => boolean | Promise<boolean>,
  otherwise: string,
  ms: number,
): Promise<void> {
  const deadline = AbortSignal.timeout(ms);
  while (!(await isReached())) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} and printed: ${output()}`);
    if (deadline.aborted) throw new Error(`${otherwise}; it printed: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The result of a program that has ended. `output` is what it wrote to both streams. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end, with any exit code. */
export async function execute(command: Command): Promise<Ended> {
  const { ended, output } = start(command);
  return { code: await ended, output: output() };
}

/**
 * Runs a program to its end.
 *
 * @returns what it wrote to stdout.
 * @throws {Error} with the end of its output if it exits with anything but 0.
 */
export async function run(command: Command): Promise<string> {
  const { ended, stdout, output } = start(command);
  const code = await ended;
  if (code === 0) return stdout();
  const line = [command.command.split('/').at(-1), ...command.args].join(' ');
  throw new Error(`${line} ended with ${code}:\n${lastLines(output())}`);
}

/** Waits for a program that exits on its own, or asks it to end; kills it after ten seconds. */
export async function finish({ child, ended }: Running, endsAlone = false): Promise<number | null> {
  if (!endsAlone) child.kill();
  const late = setTimeout(() => child.kill('SIGKILL'), MAX_ENDING_MS);
  const code = await ended;
  clearTimeout(late);
  return code;
}

export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-SHOWN_LINES).join('\n');
}

/** Does the same with each item, several at a time. */
export async function sideBySide<T>(
  items: readonly T[],
  atATime: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = [...items];
  const lane = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
}

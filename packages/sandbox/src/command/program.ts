import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { CommandError, hasCode, UsageError } from './failures.ts';

/** A merchant's program, running. */
export interface Program {
  /** Its command line, for messages. */
  readonly name: string;
  readonly pid: number;
  /** Resolves with its exit code; 128 plus the signal's number if a signal ended it, as in shells. */
  readonly ended: Promise<number>;
  /** Whether a signal to this process has asked it to end. */
  isStopped(): boolean;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts a program that shares this process's terminal, and forwards signals to it: it ends first, then this process.
 *
 * @throws {CommandError} When it cannot be started.
 */
export async function startProgram(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Program> {
  const { file, args, ...options } = commandLine(command, process.platform, process.env);
  const child = spawn(file, args, { ...options, stdio: 'inherit', env: { ...process.env, ...variables } });
  let stops = 0;
  const stop = (signal: NodeJS.Signals): void => {
    stops += 1;
    if (stops > 1) child.kill('SIGKILL');
    // A terminal sends Ctrl-C to the program as well; a second one would interrupt its shutdown.
    else if (!(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  const ended = once(child, 'exit').then(([code, signal]: (number | NodeJS.Signals | null)[]) => {
    for (const each of SIGNALS) process.off(each, stop);
    if (typeof code === 'number') return code;
    return 128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);
  });
  // If the program cannot be started, both reject.
  ended.catch(() => undefined);
  await once(child, 'spawn').catch((cause: unknown) => {
    const why = hasCode(cause, 'ENOENT') ? 'there is no such program' : String(cause);
    throw new CommandError(`${command[0]} could not be started: ${why}.`, { cause });
  });
  return { name: command.join(' '), pid: child.pid ?? 0, ended, isStopped: () => stops > 0 };
}

/** Whether something accepts a connection there now. */
export const accepts = (url: URL): Promise<boolean> => reaches('connect', connect(portOf(url), bare(url)));

/** Whether this event is the first one of the socket, which is then closed. */
export function reaches(event: 'connect' | 'secureConnect', socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isReached: boolean) => (): void => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once(event, end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

/** The host without the brackets of IPv6. */
export const bare = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$/g, '');

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

/** The arguments of spawn(). */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments?: true;
}

const BATCH = /\.(cmd|bat)$/i;

/**
 * A command as spawn() can start it. On Windows, npm and the binaries of packages are .cmd files: spawn() can neither find
 * nor start them; only the command processor can. Elsewhere the command is returned unchanged.
 *
 * @throws {UsageError} for an argument that no .cmd file can receive unchanged.
 */
export function commandLine(
  [file = '', ...args]: readonly string[],
  platform: NodeJS.Platform,
  { PATH = '', PATHEXT = '.COM;.EXE;.BAT;.CMD', ComSpec = 'cmd.exe' }: NodeJS.ProcessEnv,
): CommandLine {
  const found = platform === 'win32' ? onWindows(file, PATH, PATHEXT) : file;
  if (platform !== 'win32' || !BATCH.test(found)) return { file: found, args };
  // Between quotation marks every character is literal, here and where the file passes it on, except these.
  const unsafe = [found, ...args].find((part) => /["%\r\n]/.test(part));
  if (unsafe !== undefined)
    throw new UsageError(
      `${file} is a .cmd file, which cannot receive the argument ${JSON.stringify(unsafe)}: it contains a quotation mark, a percent sign or a line break. Start the program itself, such as: node server.mjs`,
    );
  const quoted = [found, ...args].map((part) => `"${part}"`).join(' ');
  return { file: ComSpec, args: ['/d', '/s', '/c', `"${quoted}"`], windowsVerbatimArguments: true };
}

/** As the command processor searches, but without the working directory, whose files need a path, such as .\start.cmd. */
function onWindows(file: string, path: string, extensions: string): string {
  const folders = /[\\/]/.test(file) ? [''] : path.split(';').filter(Boolean);
  const endings = extensions.toLowerCase().split(';');
  const isComplete = endings.some((ending) => file.toLowerCase().endsWith(ending));
  const names = isComplete ? [file] : endings.map((ending) => file + ending);
  const paths = folders.flatMap((folder) => names.map((name) => (folder === '' ? name : join(folder, name))));
  return paths.find((each) => existsSync(each)) ?? file;
}

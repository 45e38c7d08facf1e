import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { CommandError, hasCode } from './command-error.ts';
import { commandLine } from './command-line.ts';

/** A merchant's program, running. */
export interface Program {
  /** Its command line, for messages. */
  readonly name: string;
  readonly pid: number;
  /** Resolves with its exit code; 128 and the signal's number when a signal ended it, as shells say it. */
  readonly ended: Promise<number>;
  /** Whether a signal to this process has asked it to end. */
  isStopped(): boolean;
}

const POLL_MS = 50;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts a program that shares this process's terminal, and passes signals on to it: it ends first, and this process after
 * it.
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
  // A program that cannot be started rejects both.
  ended.catch(() => undefined);
  await hasSpawned(child, command[0] ?? '');
  return { name: command.join(' '), pid: child.pid ?? 0, ended, isStopped: () => stops > 0 };
}

async function hasSpawned(child: ChildProcess, file: string): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    const why = hasCode(cause, 'ENOENT') ? 'there is no such program' : String(cause);
    throw new CommandError(`${file} could not be started: ${why}.`, 1, { cause });
  }
}

/** Resolves with true when something listens there, and with false when the signal is aborted before. */
export async function listens(
  url: URL,
  signal: AbortSignal,
  onWaiting: () => Promise<void>,
): Promise<boolean> {
  while (!signal.aborted) {
    if (await accepts(url)) return true;
    await onWaiting();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

/** Whether something accepts a connection there now. */
export function accepts(url: URL): Promise<boolean> {
  const socket = connect(portOf(url), url.hostname.replace(/^\[|\]$/g, ''));
  return new Promise((resolve) => {
    const answer = (isOpen: boolean) => (): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

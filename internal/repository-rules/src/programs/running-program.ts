import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { freePort } from '../../../../vitest.shared.ts';

/** A program of a document, listening. */
export interface RunningProgram {
  readonly url: string;
  /** Resolves when the program has printed the string; rejects if it does not in time. */
  hasPrinted(text: string): Promise<void>;
}

/** How a program is started when it is not the program of the document itself. */
export interface Starting {
  /** What follows the file on the command line, for the port that the program is to listen on. */
  readonly argumentsFor?: (port: number) => readonly string[];
  /** @default the folder of the file */
  readonly cwd?: string;
}

/** Where programs share Node's compile cache of the packages; it changes nothing else. */
export const COMPILED: { readonly NODE_COMPILE_CACHE: string | undefined } = {
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};

const DEADLINE_MS = 25_000;
const MAX_ENDING_MS = 10_000;

/**
 * Starts a program in a process of its own, on a free port, with nothing but PORT, COMPILED and the given variables in its
 * environment; runs `use` once it accepts connections, and always ends it, by its own id.
 *
 * @returns all that it has printed, on both streams, and its exit code after SIGTERM; null when the signal ended it.
 */
export async function withRunningProgram(
  file: string,
  variables: Readonly<Record<string, string>>,
  use: (program: RunningProgram) => Promise<void>,
  { argumentsFor = () => [], cwd = dirname(file) }: Starting = {},
): Promise<{ readonly output: string; readonly exitCode: number | null }> {
  const port = await freePort();
  const child = spawn(process.execPath, [file, ...argumentsFor(port)], {
    cwd,
    env: { ...COMPILED, PORT: String(port), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close');
  const until = async (reached: () => boolean | Promise<boolean>, otherwise: string): Promise<void> => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    while (!(await reached())) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} and printed: ${output}`);
      if (deadline.aborted) throw new Error(`${otherwise}; it printed: ${output}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  try {
    await until(() => accepts(port), 'it does not listen on PORT of 127.0.0.1');
    await use({
      url: `http://127.0.0.1:${port}`,
      hasPrinted: (text) => until(() => output.includes(text), `it does not print "${text}"`),
    });
  } finally {
    child.kill();
    const impatience = setTimeout(() => child.kill('SIGKILL'), MAX_ENDING_MS);
    await closed;
    clearTimeout(impatience);
  }
  return { output, exitCode: child.exitCode };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // The program is still loading. The caller gives up at its deadline.
    return false;
  } finally {
    socket.destroy();
  }
}

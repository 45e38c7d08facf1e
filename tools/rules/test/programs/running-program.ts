import { once } from 'node:events';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { finish, start, until } from '@payment-service/release/toolchains';
import { freePort } from '../../../../vitest.shared.ts';
import { workspacePackages } from '../../src/manifests.ts';
import { root } from '../../src/repository.ts';

/** A program of a document, listening. */
export interface RunningProgram {
  readonly url: string;
  /** Resolves when the program has printed the string; rejects if it does not in time. */
  hasPrinted(text: string): Promise<void>;
}

/** How to start a program that is not the document's own. */
export interface Starting {
  /** The arguments after the file, for the port on which the program must listen. */
  readonly argumentsFor?: (port: number) => readonly string[];
  /** @default the folder of the file */
  readonly cwd?: string;
}

const MAX_WAIT_MS = 60_000;

/**
 * Starts a program in its own process, on a free port, with nothing but PORT and the given variables in its environment; runs
 * `use` once it accepts connections, and always ends it, by its own id.
 *
 * @returns all its output, on both streams, and its exit code after SIGTERM; null if the signal ended it.
 */
export async function withRunningProgram(
  file: string,
  variables: Readonly<Record<string, string>>,
  use: (program: RunningProgram) => Promise<void>,
  { argumentsFor = () => [], cwd = dirname(file) }: Starting = {},
): Promise<{ readonly output: string; readonly exitCode: number | null }> {
  const port = await freePort();
  const args = [file, ...argumentsFor(port)];
  const env = { PORT: String(port), ...variables };
  const running = start({ command: process.execPath, args, cwd, env, isAlone: true });
  const { output } = running;
  try {
    await until(running, () => accepts(port), 'it does not listen on PORT of 127.0.0.1', MAX_WAIT_MS);
    await use({
      url: `http://127.0.0.1:${port}`,
      hasPrinted: (text) =>
        until(running, () => output().includes(text), `it does not print "${text}"`, MAX_WAIT_MS),
    });
  } finally {
    await finish(running);
  }
  mustNotWarn(output());
  return { output: output(), exitCode: running.child.exitCode };
}

/**
 * A program that a reader copies must not warn them of a mistake. A failed attempt is no warning.
 *
 * @throws {Error} with the warning.
 */
export function mustNotWarn(output: string): void {
  const [warning] = /^(?:payment-service-inbox: (?!attempt )|@payment-service\/\w+: ).*/m.exec(output) ?? [];
  if (warning !== undefined) throw new Error(`It warns: ${warning}`);
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

/** The program of a command that the documents show. */
export function commandFile(name: string = 'payment-service-sandbox'): string {
  const found = workspacePackages().find(({ manifest }) => name in (manifest.bin ?? {}));
  return join(root, found?.folder ?? '', found?.manifest.bin?.[name] ?? '');
}

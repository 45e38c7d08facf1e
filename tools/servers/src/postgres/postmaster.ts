import { spawn } from 'node:child_process';
import type { ServerUser } from './programs.ts';

/** The first process of a PostgreSQL server, the parent of all others. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  isRunning(): boolean;
}

/** A standby reports read-only connections. */
const READY = /database system is ready to accept (read-only )?connections/;

/**
 * Starts a server, and resolves when it accepts connections.
 *
 * @param options the user, and a folder that this user can enter: the caller's own may be inaccessible to it.
 * @throws {Error} with the output of the server, if it ends before that.
 */
export function startPostmaster(
  postgres: string,
  args: readonly string[],
  options: Partial<ServerUser> & { readonly cwd: string },
): Promise<Postmaster> {
  // Its output is searched, so it must not be translated.
  const env = { ...process.env, LC_ALL: 'C' };
  const child = spawn(postgres, args, { ...options, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const { pid } = child;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    let said = '';
    let isReady = false;
    // Read until the server ends: a full pipe would stop it.
    child.stderr.on('data', (chunk: Buffer) => {
      if (isReady || pid === undefined) return;
      said += chunk.toString();
      isReady = READY.test(said);
      if (isReady) {
        resolve({ pid, ended, isRunning: () => child.exitCode === null && child.signalCode === null });
      }
    });
    child.once('error', reject);
    // After its output, which contains the reason.
    child.once('close', () => reject(new Error(`PostgreSQL does not start:\n${said}`)));
  });
}

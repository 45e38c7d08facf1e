import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { ServerUser } from '@payment-service/servers/postgres';

interface DaemonOptions extends Partial<ServerUser> {
  readonly log: string;
  readonly cwd: string;
}

/** A program of the system that runs until it is killed. */
export class Daemon {
  readonly #child: ChildProcess;
  readonly #log: string;

  /** @param options.log the file for its output. */
  constructor(program: string, args: readonly string[], { log, ...options }: DaemonOptions) {
    this.#log = log;
    const output = openSync(log, 'a');
    // In its own process group, so that Ctrl-C reaches it through the end of the run, in the right order.
    this.#child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', output, output] });
    closeSync(output);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** @throws {Error} with the end of its output, if it has ended. */
  check(): void {
    if (!this.hasEnded) return;
    throw new Error(`${this.#child.spawnfile} has ended:\n${readFileSync(this.#log, 'utf8').slice(-3000)}`);
  }

  async kill(): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { hangGuard } from '../hang-guard.ts';
import type { ServerReport } from './serve-hostile.ts';

/** A program that calls `serveHostile()`, and the name of one of its servers. */
export interface HostileServer {
  readonly name: string;
  readonly program: URL;
}

/** The process of a server. If it ends on its own it has crashed, and every further question fails. */
export class HostileHost {
  readonly #process: ChildProcess;
  readonly #crash: Promise<never>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#crash = once(process, 'exit').then(([code]) => {
      throw new Error(`The server crashed: it ended with ${code}.`);
    });
    this.#crash.catch(() => undefined);
  }

  static start({ name, program }: HostileServer, withGarbageCollection = false): HostileHost {
    const execArgv = [...process.execArgv, ...(withGarbageCollection ? ['--expose-gc'] : [])];
    return new HostileHost(fork(program, [name], { execArgv }));
  }

  /**
   * @param question `heap` for the live heap too, which costs the server a garbage collection.
   * @throws {Error} if the server has crashed.
   */
  async report(question: 'state' | 'heap' = 'state'): Promise<ServerReport> {
    const child = this.#process;
    const reported = once(child, 'message');
    child.send(question);
    const answered = Promise.race([reported, this.#crash]);
    // Some frameworks pass each of 1.3 million chunks through several promises before they report.
    const [report] = await hangGuard('the report of a server', answered, 120_000);
    return report;
  }

  /** Asks until a report shows what is expected, and returns the last one. Each question is a turn of the server's loop. */
  async until(isReached: (report: ServerReport) => boolean, seconds: number): Promise<ServerReport> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const report = await this.report();
      if (isReached(report) || performance.now() > end) return report;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}

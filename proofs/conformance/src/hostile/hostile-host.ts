import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { hangGuard } from '../hang-guard.ts';
import type { ServerReport } from './serve-hostile.ts';

/** Starts one of the servers of a program that calls `serveHostile()`, and stops it after use. */
export async function hosted<T>(
  name: string,
  program: URL,
  use: (host: HostileHost) => Promise<T>,
): Promise<T> {
  const host = new HostileHost(name, program);
  try {
    return await use(host);
  } finally {
    await host.end();
  }
}

/** The process of a server. If it ends on its own it has crashed, and every further question fails. */
export class HostileHost {
  readonly #process: ChildProcess;
  readonly #crash: Promise<never>;

  constructor(name: string, program: URL) {
    this.#process = fork(program, [name], { execArgv: [...process.execArgv, '--expose-gc'] });
    this.#crash = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`The server crashed: it ended with ${code}.`);
    });
    this.#crash.catch(() => undefined);
  }

  /**
   * @param question `heap` for the live heap too, which costs the server a garbage collection.
   * @throws {Error} if the server has crashed.
   */
  async report(question: 'state' | 'heap' = 'state'): Promise<ServerReport> {
    const reported = once(this.#process, 'message');
    this.#process.send(question);
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
      await wait(20);
    }
  }

  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.#crash.catch(() => undefined);
  }
}

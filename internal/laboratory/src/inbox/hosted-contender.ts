import { join } from 'node:path';
import type { Timed } from '../load/in-concert.ts';
import { Child } from '../measure/child.ts';
import type { ContenderId, Engines } from './contender.ts';
import type { ContenderRequest } from './contender-process.ts';

/** A contender in a process of its own. */
export class HostedContender {
  readonly id: ContenderId;
  readonly port: number;
  readonly #child: Child;

  private constructor(id: ContenderId, port: number, child: Child) {
    this.id = id;
    this.port = port;
    this.#child = child;
  }

  static async open(id: ContenderId, engines: Engines): Promise<HostedContender> {
    const child = new Child(join(import.meta.dirname, 'contender-process.ts'));
    const port = await child.ask<number>({ kind: 'open', id, engines } satisfies ContenderRequest);
    return new HostedContender(id, port, child);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Calls it directly, without HTTP. */
  store(prefix: string, count: number, concurrency: number): Promise<Timed> {
    return this.#child.ask({ kind: 'store', prefix, count, concurrency } satisfies ContenderRequest);
  }

  count(): Promise<number> {
    return this.#child.ask({ kind: 'count' } satisfies ContenderRequest);
  }

  async close(): Promise<void> {
    await this.#child.ask({ kind: 'close' } satisfies ContenderRequest);
    await this.#child.end();
  }
}

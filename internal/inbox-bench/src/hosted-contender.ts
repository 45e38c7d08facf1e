import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ContenderId, Engines } from './contender.ts';
import type { ContenderReplies, ContenderRequest } from './contender-process.ts';
import type { Timed } from './in-concert.ts';

/** A contender in a process of its own. */
export class HostedContender {
  readonly id: ContenderId;
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(id: ContenderId, port: number, child: ChildProcess) {
    this.id = id;
    this.port = port;
    this.#child = child;
  }

  static async open(id: ContenderId, engines: Engines): Promise<HostedContender> {
    const child = fork(join(import.meta.dirname, 'contender-process.ts'));
    const { port } = await ask(child, { kind: 'open', id, engines });
    return new HostedContender(id, port, child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Calls it directly, without HTTP. */
  store(prefix: string, count: number, concurrency: number): Promise<Timed> {
    return ask(this.#child, { kind: 'store', prefix, count, concurrency });
  }

  count(): Promise<number> {
    return ask(this.#child, { kind: 'count' });
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    await ask(this.#child, { kind: 'close' });
    await exited;
  }
}

type Reply<K extends ContenderRequest['kind']> = { value: ContenderReplies[K] } | { error: string };

/** One request at a time. */
function ask<K extends ContenderRequest['kind']>(
  child: ChildProcess,
  request: Extract<ContenderRequest, { kind: K }>,
): Promise<ContenderReplies[K]> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error(`A contender ended when it was asked to ${request.kind}.`));
    child.once('exit', onExit);
    child.once('message', (reply: Reply<K>) => {
      child.off('exit', onExit);
      if ('error' in reply) reject(new Error(reply.error));
      else resolve(reply.value);
    });
    child.send(request);
  });
}

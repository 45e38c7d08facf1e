import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { LatencyReplies, LatencyRequest } from './latency-process.ts';

type Reply<K extends LatencyRequest['kind']> = { value: LatencyReplies[K] } | { error: string };

/** One of the programs, from outside. */
export class LatencyHost {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'latency-process.ts'));

  /** One request at a time. */
  ask<K extends LatencyRequest['kind']>(
    request: Extract<LatencyRequest, { kind: K }>,
  ): Promise<LatencyReplies[K]> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error(`A program ended when it was asked to ${request.kind}.`));
      child.once('exit', onExit);
      child.once('message', (reply: Reply<K>) => {
        child.off('exit', onExit);
        if ('error' in reply) reject(new Error(reply.error));
        else resolve(reply.value);
      });
      child.send(request);
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.kill();
    });
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { ScalingReply, ScalingRequest, Settled } from './scaling-process.ts';

/** One of the programs, from outside. */
export class ScalingHost {
  readonly #child: ChildProcess;

  /** @param onSettled told how many transitions it has settled since it was last told. */
  constructor(onSettled: (count: number) => void) {
    this.#child = fork(join(import.meta.dirname, 'scaling-process.ts'));
    this.#child.on('message', (message: ScalingReply | Settled) => {
      if (message.kind === 'settled') onSettled(message.count);
    });
  }

  /** One request at a time. @returns the CPU time of the process so far, in milliseconds. */
  ask(request: ScalingRequest): Promise<number> {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      const onExit = (): void => reject(new Error(`A program ended when it was asked to ${request.kind}.`));
      const onMessage = (message: ScalingReply | Settled): void => {
        if (message.kind !== 'done') return;
        child.off('exit', onExit).off('message', onMessage);
        resolve(message.cpuMs);
      };
      child.once('exit', onExit).on('message', onMessage);
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

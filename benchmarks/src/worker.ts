import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A program of this folder in a process of its own, which answers one question at a time. */
export class Worker {
  readonly #child: ChildProcess;

  /** @param program a file of this folder that calls `answerQuestions()`. */
  constructor(program: string, args: readonly string[] = []) {
    const execArgv = [...process.execArgv, '--expose-gc'];
    this.#child = fork(join(import.meta.dirname, program), args, { execArgv });
  }

  /** @throws {Error} that the worker threw, or that says that it ended. */
  ask<Answer>(question: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`A worker ended with ${code}.`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (reply: { value: Answer } | { error: string }) => {
        this.#child.off('exit', onExit);
        if ('error' in reply) reject(new Error(reply.error));
        else resolve(reply.value);
      });
      this.#child.send(question);
    });
  }

  /** The process ends on its own when it loses its parent, so that a profiler can write what it has. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }
}

/** The other side, in the worker. */
export function answerQuestions<Question>(answer: (question: Question) => unknown): void {
  process.on('disconnect', () => process.exit());
  process.on('message', async (question: Question) => {
    try {
      process.send?.({ value: await answer(question) });
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.stack : String(error) });
    }
  });
}

import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';

export interface ChildOptions extends Pick<ForkOptions, 'cwd' | 'env' | 'stdio'> {
  readonly args?: readonly string[];
}

type Message = { readonly value: unknown } | { readonly error: string };

/** A program of the repository in its own process, which answers one question at a time and ends with its parent. */
export class Child {
  readonly process: ChildProcess;

  /** @param program a file that calls `answerQuestions()`. */
  constructor(program: string, { args = [], ...options }: ChildOptions = {}) {
    this.process = fork(program, args, options);
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** @throws {Error} the program's own error, or one that says that the program ended. */
  ask<Answer>(question: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const child = this.process;
      const onExit = (code: number | null): void => reject(new Error(`A program ended with ${code}.`));
      const onMessage = (message: Message): void => {
        child.off('exit', onExit).off('message', onMessage);
        if ('error' in message) reject(new Error(message.error));
        // The messages of the two sides are declared once, next to the program.
        else resolve(message.value as Answer);
      };
      child.once('exit', onExit).on('message', onMessage);
      child.send(question, (error) => (error === null ? undefined : reject(error)));
    });
  }

  /** Lets it end on its own, so that a profiler can write its output. */
  async end(): Promise<void> {
    await this.#ended(() => this.process.disconnect());
  }

  async kill(): Promise<void> {
    await this.#ended(() => this.process.kill('SIGKILL'));
  }

  async #ended(act: () => unknown): Promise<void> {
    if (this.hasEnded) return;
    const exited = once(this.process, 'exit');
    act();
    await exited;
  }
}

/** The other side, in the program. */
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

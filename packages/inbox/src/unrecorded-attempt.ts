import type { CaseFile } from './case-file.ts';
import { errorText } from './handler.ts';

/** What became of a handler could not be written in its own transaction, and is to be written in another one. */
export class UnrecordedAttempt extends Error {
  readonly id: Uint8Array;
  readonly attempts: number;
  /** For the person who looks at the transition. */
  readonly reported: string;
  /** Whether its effects may be committed although the transition is not settled: it must not run again by itself. */
  readonly isFinal: boolean;

  /**
   * @param cause why the outcome is not recorded.
   * @param reported why the attempt failed, where that is something else.
   */
  constructor({ id, attempts }: Pick<CaseFile, 'id' | 'attempts'>, cause: unknown, reported?: string) {
    super('The outcome of a handler is not recorded yet.', { cause });
    this.id = id;
    this.attempts = attempts;
    this.isFinal = cause instanceof TransactionEnded;
    this.reported = this.isFinal || reported === undefined ? errorText(cause) : reported;
  }
}

/** The transaction is not the one that was begun. Nobody but the handler can have ended it, and perhaps by a COMMIT. */
export class TransactionEnded extends Error {
  constructor(cause: unknown) {
    super(
      'The handler has ended its transaction by itself, so what it did may be committed. Look at your own tables, then ' +
        'retry() or resolve().',
      { cause },
    );
    this.name = 'TransactionEnded';
  }
}

import { printableJson } from '@payment-service/core/receive';
import { type Command, InvalidArgumentError } from 'commander';
import { type OpenOptions, type OperatedInbox, withInbox } from './open-inbox.ts';

/** The options that every verb has. */
export interface Given extends OpenOptions {
  readonly json?: true;
}

/** Exit code of a verb that did its work and found something that needs a person. */
const NEEDS_ATTENTION = 3;

/** What verbs are made from. */
export class Verbs {
  readonly program: Command;

  constructor(program: Command) {
    this.program = program;
  }

  get given(): Given {
    return this.program.opts();
  }

  readonly use = <T>(work: (inbox: OperatedInbox) => Promise<T>): Promise<T> => withInbox(this.given, work);

  /** On stdout: JSON for programs, or words for a person. */
  tell<T>(result: T, print: (result: T) => void): void {
    if (this.given.json) console.log(printableJson(result));
    else print(result);
  }

  /** The work is done, and the exit code says that a person must look at its result. */
  needsAttention(isNeeded: boolean): void {
    if (isNeeded) process.exitCode = NEEDS_ATTENTION;
  }
}

export const id = (text: string): string => {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("An id has 64 lower-case hexadecimal digits; 'ls' prints it.");
};

export const moment = (text: string): Date => {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('It must be a date, such as 2026-01-31 or 2026-01-31T09:00Z.');
};

export const upTo =
  (max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };

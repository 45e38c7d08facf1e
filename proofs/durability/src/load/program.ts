import { join } from 'node:path';
import { Child } from '../measure/child.ts';

/** The library and engine that a merchant's program is built on. */
export type Way = 'pg' | 'pg, not listening' | 'Knex' | 'SQLite' | 'graphile-worker' | 'floor';

export type ProgramRequest =
  /** `at`: the address of the database, or the path of the file. Returns the port, if it receives. */
  | { readonly kind: 'open'; readonly way: Way; readonly at: string; readonly receives: boolean }
  | { readonly kind: 'expect'; readonly references: readonly string[] }
  /** Waits until the effects of all of them are committed here, and returns when each was. */
  | { readonly kind: 'settled'; readonly references: readonly string[] }
  /** Works until the process ends. */
  | { readonly kind: 'work' };

/** A merchant's program that receives callbacks, applies them, or both, as requested. */
export function startProgram(): Child {
  return new Child(join(import.meta.dirname, 'program-process.ts'));
}

export function askProgram<A>(program: Child, request: ProgramRequest): Promise<A> {
  return program.ask(request);
}

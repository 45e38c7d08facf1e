import type { Comparison, Settled } from './evaluation.ts';

/** An expectation, and how a body has equalled it. */
export type Applied = Settled & { readonly compare: Comparison };

/** What is written when a handler has succeeded, in its own transaction. */
export interface Settlement {
  readonly transitionId: Uint8Array;
  readonly referenceKey: Uint8Array;
  readonly subjectKey: Uint8Array;
  /** The applied status as JSON text: a genuine status may hold a NUL, which PostgreSQL's text cannot. */
  readonly status: string;
  /** The expectation that the handler was given, which it settles; undefined for another status than completed. */
  readonly settled: Applied | undefined;
  /** The body that equalled it. */
  readonly digest: Uint8Array | undefined;
  readonly now: number;
}

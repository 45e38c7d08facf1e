/** What is written when a handler has succeeded, in its own transaction. */
export interface Settlement {
  readonly transitionId: Uint8Array;
  readonly referenceKey: Uint8Array;
  readonly subjectKey: Uint8Array;
  /** The applied status as JSON text: a genuine status may hold a NUL, which PostgreSQL's text cannot. */
  readonly status: string;
  /** The expectation that the handler was given, which it settles; undefined for another status than completed. */
  readonly settled: { readonly currency: string; readonly amount: string } | undefined;
  /** The body that equalled it. */
  readonly digest: Uint8Array | undefined;
  readonly now: number;
}

import type { Cause, ExplainedRequest, ExplainKeys, ExplainOptions } from '../../src/explain/index.ts';

/** A real mistake, the cause that must name it, and what the detail must show. */
export type Case = readonly [
  cause: Cause,
  mistake: string,
  request: ExplainedRequest,
  shows: RegExp,
  settings?: (Partial<ExplainKeys> & ExplainOptions) | undefined,
];

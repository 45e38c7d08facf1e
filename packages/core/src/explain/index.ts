export type { Cause, Explanation, OutcomeCause } from './causes.ts';
export { type ExplainOptions, explain } from './explain.ts';
export { type Exchange, explainOutcome, type Outcome } from './explain-outcome.ts';
export { type ExplainRefusalsOptions, explainRefusals } from './explain-refusals.ts';
export type { ExplainKeys } from './hypotheses.ts';
export type { ExplainedRequest } from './readings.ts';

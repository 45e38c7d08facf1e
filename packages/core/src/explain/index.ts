export type { Cause, Explanation, OutcomeCause } from './causes.ts';
export { type ExplainRefusalsOptions, explain, explainRefusals } from './explain.ts';
export { type Exchange, explainOutcome, type Outcome } from './explain-outcome.ts';
export type { ExplainKeys } from './hypotheses.ts';
export type { ExplainOptions } from './problems.ts';
export type { ExplainedRequest } from './readings.ts';

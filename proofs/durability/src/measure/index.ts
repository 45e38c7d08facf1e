/** What `benchmarks/` uses from the laboratory. */
export { answerQuestions, Child } from './child.ts';
export { difference, interleave, quantile, ratio, type Spread, spread } from './measure.ts';
export { makeFolder, type Report, readFlags, runProgram } from './program.ts';
export { judge, type Result } from './results.ts';
export { figure, range, resultTable, type Table, withRange } from './tables.ts';

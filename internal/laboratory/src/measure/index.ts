/** What `benchmarks/` uses of the laboratory. */
export { answerQuestions, Child } from './child.ts';
export { difference, interleave, quantile, ratio, type Spread, shuffled, spread } from './measure.ts';
export { cleanUp, environment, makeFolder, type Report, runProgram } from './program.ts';
export { judge, type Result } from './results.ts';
export { figure, printTable, range, resultTable, type Table, withRange } from './tables.ts';

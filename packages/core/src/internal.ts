/**
 * For the packages of this repository, and no part of the public API: a name here may change with any release. The build makes
 * one file of it and of all that an adapter loads, since every file takes about a millisecond to load (docs/benchmarks.md).
 */
export { servingEnvironment } from './environment.ts';
export { runHook } from './hook.ts';
export * from './index.ts';
export { isLoopback } from './loopback.ts';
export { nearName } from './near-name.ts';
export { checkOptions, FUNCTION, type OptionRule, type OptionRules } from './options.ts';
export { printable, printableJson, printableLines } from './printable.ts';
export * from './receive/index.ts';
export { type Trace, type TraceChannel, traceChannel } from './trace-channel.ts';
export { readSignedFields, signedMessage } from './verify/signed-fields.ts';

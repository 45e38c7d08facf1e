/**
 * For the packages of this repository only, not part of the public API: names here may change with any release. The build bundles
 * it with everything that an adapter loads, since every file takes about a millisecond to load (docs/benchmarks.md).
 */

export { digestName } from '#digest';
export * from './index.ts';
export { amountMismatches, type Claim, claimedAmounts, exactAmount } from './money/amounts.ts';
export { environmentVariable, isLoopback, notDevelopment } from './options/environment.ts';
export { nearName } from './options/near-name.ts';
export {
  checkArgument,
  checkOptions,
  FUNCTION,
  kindOf,
  LIST,
  type OptionRule,
  type OptionRules,
  RECORD,
  refuseArgument,
} from './options/options.ts';
export * from './receive/index.ts';
export { answerCallback, isAcknowledged } from './receive/receive-callback.ts';
export { answerRedirect } from './receive/receive-redirect.ts';
export { requestOf } from './receive/web.ts';
export { runHook } from './reporting/hook.ts';
export { printable, printableJson, printableLines } from './reporting/printable.ts';
export { type Trace, type TraceChannel, traceChannel, traceparentOf } from './reporting/trace-channel.ts';
export { type SignatureCheck, takingCheck } from './verify/signature.ts';
export { checkReference, hmacOf, readSignedFields, signedMessage } from './verify/signed-fields.ts';
export { warnOnce } from './verify/signing-keys.ts';
export { type Proof, proofOf, unsignedFields } from './verify/verified.ts';

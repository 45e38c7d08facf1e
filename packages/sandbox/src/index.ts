export type { Listening } from './http/listen.ts';
export type { SandboxOptions } from './options.ts';
export { createSandbox, type Sandbox } from './sandbox.ts';
export { exampleEndpoints, type SandboxEndpoint } from './service/endpoints.ts';
export type {
  CollectionRequest,
  Outcome,
  PayoutRequest,
  TransferRequest,
} from './service/request-schemas.ts';
export { defaultProviders } from './service/simulated-providers.ts';
export type {
  SandboxAttempt,
  SandboxDelivery,
  SandboxTransaction,
  SandboxTransfer,
  StartedCollection,
} from './service/views.ts';
export type { SandboxAccount } from './state/account.ts';
export type { Clock } from './state/clock.ts';
export type { Composition, Misbehaviour } from './state/misbehaviour.ts';
export type { CheckReport, CheckResult, SandboxProvider } from './state/records.ts';
export { SandboxRefusal, type SandboxRefusalReason } from './state/refusal.ts';
export type { RetryRules, RetrySettings } from './state/retries.ts';

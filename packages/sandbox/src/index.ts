export type { CheckReport, CheckResult } from './check/check.ts';
export type { Misbehaviour, RetryPreset, RetryRules, RetrySettings } from './deliveries/misbehaviour.ts';
export type { Listening } from './http/listen.ts';
export type { SandboxOptions } from './options.ts';
export { createSandbox, type Sandbox } from './sandbox.ts';
export { defaultProviders, type SandboxProvider } from './service/providers.ts';
export { SandboxRefusal, type SandboxRefusalReason } from './service/refusal.ts';
export type {
  CollectionRequest,
  Composition,
  Outcome,
  PayoutRequest,
  TransferRequest,
} from './service/requests.ts';
export type {
  SandboxAttempt,
  SandboxDelivery,
  SandboxTransaction,
  SandboxTransfer,
  StartedCollection,
} from './service/views.ts';
export type { SandboxAccount } from './state/account.ts';
export type { Clock } from './state/clock.ts';

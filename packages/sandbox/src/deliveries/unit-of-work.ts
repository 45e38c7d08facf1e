import type { Verifier } from '@payment-service/core';
import type { SandboxAccount } from '../state/account.ts';
import type { Clock } from '../state/clock.ts';
import type { DeliveryRecord } from '../state/records.ts';
import type { Changes, Reader, Store, Unit } from '../state/store.ts';
import type { Signer } from './callback-data.ts';
import type { AttemptOptions } from './delivery-attempt.ts';

/** What all parts of a sandbox share. */
export interface Context extends AttemptOptions {
  readonly store: Store;
  /** The sandbox's clock, including how far it was moved ahead. */
  readonly clock: Clock;
  readonly changes: Changes;
  readonly seed: string;
  readonly account: SandboxAccount;
  readonly colonIn: 'merchant_reference' | undefined;
  readonly sign: Signer;
  readonly verifier: Verifier;
  /** Called after each attempt, when it is recorded. It throws nothing. */
  readonly onAttempt: (delivery: DeliveryRecord) => void;
  /** What to do with a failure of the sandbox itself, such as a full disk. */
  readonly onError: (error: unknown) => void;
}

/** The state of a sandbox at one time. */
export interface Moment extends Reader, Context {
  readonly now: number;
}

/** One unit of work at one time. */
export interface Work extends Unit, Moment {}

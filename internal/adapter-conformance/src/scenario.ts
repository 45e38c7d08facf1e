import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';
import type { Mode, Reader } from './application.ts';
import type { Outcome } from './outcome.ts';
import type { Stage } from './stage.ts';

/** One request as bytes, one in several writes, or more than that. */
export type Play = Uint8Array | readonly Uint8Array[] | ((stage: Stage) => Promise<unknown>);

interface Scenario {
  /** The rule that it proves, or the threat, by its number in the list of threats. */
  readonly name: string;
  /** Both, unless it is about one of them. */
  readonly modes?: readonly Mode[];
  readonly play: Play;
  /** What is not named must be empty. The only place where an outcome is written: the same for every framework. */
  readonly expect: Partial<Outcome> | ((mode: Mode) => Partial<Outcome>);
}

export interface CallbackScenario extends Scenario {
  readonly options?: Partial<CallbackOptions>;
  readonly before?: Reader;
  readonly after?: 'json';
  /** What the handler does, in either mode. */
  readonly handle?: (callback: VerifiedCallback, stage: Stage) => unknown;
  /** What is recorded of a callback that reached the handler. Default: its merchant_reference. */
  readonly record?: (callback: VerifiedCallback) => unknown;
}

export interface RedirectScenario extends Scenario {
  readonly options?: Partial<RedirectOptions>;
  /** What `onRedirect` answers; the app's own handler calls it too, and drops the address. Default: `/thanks`. */
  readonly handle?: (redirect: VerifiedRedirect) => string | URL | Promise<string | URL>;
  readonly record?: (redirect: VerifiedRedirect) => unknown;
}

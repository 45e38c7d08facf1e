import type { IncomingMessage } from 'node:http';
import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';
import type { Mode, Reader } from './application.ts';
import type { Parts } from './connection.ts';
import type { Outcome } from './outcome.ts';
import type { Stage } from './stage.ts';

/** One request as bytes, one in several writes, or a function that sends requests. */
export type Play = Uint8Array | Parts | ((stage: Stage) => Promise<unknown>);

/** All other parts must be empty. Defined once, since the outcome is the same under every framework. */
export type Expected = Partial<Outcome> | ((mode: Mode) => Partial<Outcome>);

type Verified = VerifiedCallback | VerifiedRedirect;

interface Setting<V extends Verified, Options> {
  readonly options?: Partial<Options>;
  /** Changes a request before the framework sees it, like a bridge without a socket. */
  readonly bridge?: (request: IncomingMessage) => void;
  readonly before?: Reader;
  readonly after?: 'json';
  /** @default both */
  readonly modes?: readonly Mode[];
  /** What the handler does, in either mode; the app's own handler ignores what it returns. @default returns '/thanks' */
  handle?(verified: V, stage: Stage): unknown;
  /** What is recorded of a request that reached the handler. @default its merchant_reference */
  record?(verified: V): unknown;
}

/**
 * Scenarios by their names: each is the rule that it proves, as a sentence; threats are cited by their number in
 * docs/threats.md.
 */
type Rows<S> = Readonly<Record<string, readonly [play: Play, expected: Expected, setting?: S]>>;
export type CallbackScenarios = Rows<Setting<VerifiedCallback, CallbackOptions>>;
export type RedirectScenarios = Rows<Setting<VerifiedRedirect, RedirectOptions>>;

/** For rules about the handler that the adapter calls: in pass-through mode the app's own handler decides. */
export const HANDLER: { readonly modes: readonly Mode[] } = { modes: ['handler'] };

/** What the handler does in handler mode. */
export function handling<V extends Verified>(handle: (verified: V) => unknown): Setting<V, object> {
  return { ...HANDLER, handle };
}

/** A scenario of either kind, for what plays it. */
export interface Scenario extends Setting<Verified, CallbackOptions & RedirectOptions> {
  readonly kind: Verified['kind'];
  readonly name: string;
  readonly play: Play;
  readonly expected: Expected;
}

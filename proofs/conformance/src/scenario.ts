import type { IncomingMessage } from 'node:http';
import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';
import type { Mode, Reader } from './application.ts';
import type { Outcome } from './outcome.ts';
import type { Stage } from './stage.ts';

/** One request as bytes, one in several writes, or a function that sends requests. */
export type Play = Uint8Array | readonly Uint8Array[] | ((stage: Stage) => Promise<unknown>);

interface Scenario {
  /** The rule that it proves, as a sentence; threats are cited by their number in docs/threats.md. */
  readonly name: string;
  readonly play: Play;
  /** All other parts must be empty. Defined once, since the outcome is the same under every framework. */
  readonly expect: Partial<Outcome> | ((mode: Mode) => Partial<Outcome>);
  /** @default both */
  readonly modes?: readonly Mode[];
}

export interface CallbackScenario extends Scenario {
  /** Changes a request before the framework sees it, like a bridge without a socket. */
  readonly bridge?: (request: IncomingMessage) => void;
  readonly options?: Partial<CallbackOptions>;
  readonly before?: Reader;
  readonly after?: 'json';
  /** What the handler does, in either mode. */
  readonly handle?: (callback: VerifiedCallback, stage: Stage) => unknown;
  /** What is recorded of a callback that reached the handler. @default its merchant_reference */
  readonly record?: (callback: VerifiedCallback) => unknown;
}

export interface RedirectScenario extends Scenario {
  readonly options?: Partial<RedirectOptions>;
  /** What `onRedirect` returns; the app's own handler calls it too, and ignores the address. @default '/thanks' */
  readonly handle?: (redirect: VerifiedRedirect) => string | URL | Promise<string | URL>;
  readonly record?: (redirect: VerifiedRedirect) => unknown;
}

/** Scenarios with the same outcome: how each is played, by its name. */
export function expecting<const Setting extends object>(
  expect: Scenario['expect'],
  plays: Readonly<Record<string, Play>>,
  setting?: Setting,
): readonly (Scenario & Setting)[] {
  return Object.entries(plays).map(
    ([name, play]) => ({ name, play, expect, ...setting }) as Scenario & Setting,
  );
}

/** For rules about the handler that the adapter calls: in pass-through mode the app's own handler decides. */
export const HANDLER: readonly Mode[] = ['handler'];

/** Creates scenarios from what the handler does with a genuine request in handler mode, by name. */
export function handlersOf<S extends CallbackScenario | RedirectScenario>(play: Play) {
  return (
    expect: Scenario['expect'],
    handlers: Readonly<Record<string, NonNullable<S['handle']>>>,
    options: NonNullable<S['options']> = {},
  ): readonly S[] =>
    Object.entries(handlers).map(
      ([name, handle]) => ({ name, modes: HANDLER, options, handle, play, expect }) as S,
    );
}

/** Requests one after another on one connection. */
export function onOneConnection(...requests: readonly (Uint8Array | readonly Uint8Array[])[]): Play {
  return async (stage) => {
    const client = await stage.connect();
    for (const request of requests) await stage.ask(request, client);
  };
}

import { inspect } from 'node:util';
import type { Refusal, VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import { expect } from 'vitest';
import type { Application, Mode } from './application.ts';
import { CALLBACK_PATH, hash, OTHER_KEY, REDIRECT_PATH, SIGNING_KEY } from './http-request.ts';
import type { Outcome } from './outcome.ts';
import type { CallbackScenario, RedirectScenario } from './scenario.ts';
import { Stage } from './stage.ts';

/**
 * Plays one scenario against a real server, and compares the observation with the expectation of the scenario.
 *
 * @param patienceMs the time after which a wait counts as a hang.
 */
export async function playCallback(
  application: Application,
  scenario: CallbackScenario,
  mode: Mode,
  patienceMs?: number,
): Promise<void> {
  const { options, before, after, bridge, handle = () => undefined } = scenario;
  const seen = new Observation();
  const called = (callback: VerifiedCallback | undefined): unknown =>
    handle(seen.reached('callback', callback, scenario.record), seen.stage());
  const server = await application.callbacks({
    path: CALLBACK_PATH,
    options: { ...seen.options, ...options, ...(mode === 'handler' && { onCallback: called }) },
    before,
    after,
    handle: mode === 'pass-through' ? passedThrough(called) : undefined,
  });
  if (bridge !== undefined) server.prependListener('request', bridge);
  await seen.compare(await Stage.open(server, patienceMs, application.close), scenario, mode);
}

export async function playRedirect(
  application: Application,
  scenario: RedirectScenario,
  mode: Mode,
  patienceMs?: number,
): Promise<void> {
  const { options, handle = () => '/thanks' } = scenario;
  const seen = new Observation();
  const called = (redirect: VerifiedRedirect | undefined): string | URL | Promise<string | URL> =>
    handle(seen.reached('redirect', redirect, scenario.record));
  const server = await application.redirects({
    path: REDIRECT_PATH,
    options: { ...seen.options, ...options, ...(mode === 'handler' && { onRedirect: called }) },
    handle: mode === 'pass-through' ? passedThrough(called) : undefined,
  });
  await seen.compare(await Stage.open(server, patienceMs), scenario, mode);
}

function passedThrough<T>(handle: (value: T) => unknown): (value: T) => Promise<string> {
  return async (value) => {
    await handle(value);
    return 'passed through';
  };
}

class Observation {
  readonly #handled: unknown[] = [];
  readonly #refusals: Refusal[] = [];
  readonly #errors: unknown[] = [];
  #stage: Stage | undefined;

  readonly options = {
    signingKey: SIGNING_KEY,
    onRefused: (refusal: Refusal): void => void this.#refusals.push(refusal),
    onError: (error: unknown): void => void this.#errors.push(error),
  };

  /** Records what a handler received. */
  reached<T extends VerifiedCallback | VerifiedRedirect>(
    kind: T['kind'],
    verified: T | undefined,
    record: (verified: T) => unknown = ({ signed }) => signed.merchant_reference,
  ): T {
    if (verified?.kind !== kind) throw new Error(`The handler received no verified ${kind}.`);
    this.#handled.push(record(verified));
    return verified;
  }

  stage(): Stage {
    if (this.#stage === undefined) throw new Error('A handler was called before the server listened.');
    return this.#stage;
  }

  async compare(
    stage: Stage,
    { name, play, expect: expected }: CallbackScenario | RedirectScenario,
    mode: Mode,
  ): Promise<void> {
    this.#stage = stage;
    try {
      await (typeof play === 'function' ? play(stage) : stage.ask(play));
    } finally {
      await stage.close();
    }
    const outcome: Outcome = {
      answers: stage.answers,
      refusals: this.#refusals.map(({ code }) => code),
      errors: this.#errors.map((error) =>
        error instanceof Error ? `${error.name}: ${error.message}` : error,
      ),
      handled: this.#handled,
    };
    const nothing: Outcome = { answers: [], refusals: [], errors: [], handled: [] };
    expect(outcome, name).toEqual({
      ...nothing,
      ...(typeof expected === 'function' ? expected(mode) : expected),
    });
    // Threat A23: no key, signature or personal data in what goes to logs.
    const logged = inspect([this.#refusals, this.#errors], { depth: 8 });
    for (const secret of [SIGNING_KEY, OTHER_KEY, hash(), 'Example Customer', '256772000001']) {
      expect(logged).not.toContain(secret);
    }
  }
}

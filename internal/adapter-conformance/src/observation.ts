import { inspect } from 'node:util';
import type { Refusal, VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import { expect } from 'vitest';
import type { Application, Mode } from './application.ts';
import { CALLBACK_PATH, hash, OTHER_KEY, REDIRECT_PATH, SIGNING_KEY } from './http-request.ts';
import type { Outcome } from './outcome.ts';
import type { CallbackScenario, Play, RedirectScenario } from './scenario.ts';
import { Stage } from './stage.ts';

/** Plays one scenario against a real server, and compares the observation with the expectation of the scenario. */
export async function playCallback(
  application: Application,
  scenario: CallbackScenario,
  mode: Mode,
): Promise<void> {
  const seen = new Observation();
  const handle = (callback: VerifiedCallback | undefined): unknown => {
    if (callback?.kind !== 'callback') throw new Error('The handler received no verified callback.');
    seen.handled.push(scenario.record?.(callback) ?? callback.signed.merchant_reference);
    return scenario.handle?.(callback, seen.stage());
  };
  const server = await application.callbacks({
    path: CALLBACK_PATH,
    options: {
      signingKey: SIGNING_KEY,
      ...seen.hooks,
      ...scenario.options,
      ...(mode === 'handler' && { onCallback: handle }),
    },
    before: scenario.before,
    after: scenario.after,
    handle: mode === 'pass-through' ? passedThrough(handle) : undefined,
  });
  if (scenario.bridge !== undefined) server.prependListener('request', scenario.bridge);
  await seen.run(await Stage.open(server), scenario.play);
  seen.compare(scenario, mode);
}

export async function playRedirect(
  application: Application,
  scenario: RedirectScenario,
  mode: Mode,
): Promise<void> {
  const seen = new Observation();
  const handle = (redirect: VerifiedRedirect | undefined): string | URL | Promise<string | URL> => {
    if (redirect?.kind !== 'redirect') throw new Error('The handler received no verified redirect.');
    seen.handled.push(scenario.record?.(redirect) ?? redirect.signed.merchant_reference);
    return scenario.handle?.(redirect) ?? '/thanks';
  };
  const server = await application.redirects({
    path: REDIRECT_PATH,
    options: {
      signingKey: SIGNING_KEY,
      ...seen.hooks,
      ...scenario.options,
      ...(mode === 'handler' && { onRedirect: handle }),
    },
    handle: mode === 'pass-through' ? passedThrough(handle) : undefined,
  });
  await seen.run(await Stage.open(server), scenario.play);
  seen.compare(scenario, mode);
}

function passedThrough<T>(handle: (value: T) => unknown): (value: T) => Promise<string> {
  return async (value) => {
    await handle(value);
    return 'passed through';
  };
}

class Observation {
  readonly refusals: Refusal[] = [];
  readonly errors: unknown[] = [];
  readonly handled: unknown[] = [];
  #stage: Stage | undefined;

  readonly hooks = {
    onRefused: (refusal: Refusal): void => {
      this.refusals.push(refusal);
    },
    onError: (error: unknown): void => {
      this.errors.push(error);
    },
  };

  stage(): Stage {
    if (this.#stage === undefined) throw new Error('A handler was called before the server listened.');
    return this.#stage;
  }

  async run(stage: Stage, play: Play): Promise<void> {
    this.#stage = stage;
    try {
      await (typeof play === 'function' ? play(stage) : stage.ask(play));
    } finally {
      await stage.close();
    }
  }

  compare({ expect: expected, name }: CallbackScenario | RedirectScenario, mode: Mode): void {
    const outcome: Outcome = {
      answers: this.stage().answers,
      refusals: this.refusals.map(({ code }) => code),
      errors: this.errors.map((error) =>
        error instanceof Error ? `${error.name}: ${error.message}` : error,
      ),
      handled: this.handled,
    };
    const nothing: Outcome = { answers: [], refusals: [], errors: [], handled: [] };
    expect(outcome, name).toEqual({
      ...nothing,
      ...(typeof expected === 'function' ? expected(mode) : expected),
    });
    this.#expectNoLeak();
  }

  /** Threat A23: no key, signature or personal data in what goes to logs. */
  #expectNoLeak(): void {
    const logged = inspect([this.refusals, this.errors], { depth: 8 });
    for (const secret of [SIGNING_KEY, OTHER_KEY, hash(), 'Example Customer', '256772000001']) {
      expect(logged).not.toContain(secret);
    }
  }
}

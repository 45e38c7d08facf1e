import type { Server } from 'node:http';
import { inspect } from 'node:util';
import type { Refusal, VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import { expect } from 'vitest';
import type { Application, Mode } from './application.ts';
import { CALLBACK_PATH, HASH, OTHER_KEY, REDIRECT_PATH, SIGNING_KEY } from './http-request.ts';
import type { Outcome } from './outcome.ts';
import type { Scenario } from './scenario.ts';
import { Stage } from './stage.ts';

type Verified = VerifiedCallback | VerifiedRedirect;

/** Plays one scenario against a real server, and compares the observation with the expectation of the scenario. */
export async function play(application: Application, scenario: Scenario, mode: Mode): Promise<void> {
  const { name, kind, expected } = scenario;
  const { handle = () => '/thanks', record = ({ signed }) => signed.merchant_reference } = scenario;
  const handled: unknown[] = [];
  const refusals: Refusal[] = [];
  const errors: unknown[] = [];
  let stage: Stage | undefined;
  const called = (verified: Verified | undefined): unknown => {
    if (verified?.kind !== kind) throw new Error(`The handler received no verified ${kind}.`);
    if (stage === undefined) throw new Error('A handler was called before the server listened.');
    handled.push(record(verified));
    return handle(verified, stage);
  };
  const hooks = {
    signingKey: SIGNING_KEY,
    onRefused: (refusal: Refusal): void => void refusals.push(refusal),
    onError: (error: unknown): void => void errors.push(error),
  };
  stage = await Stage.open(await mounted(application, scenario, mode, hooks, called), application.close);
  try {
    await (typeof scenario.play === 'function' ? scenario.play(stage) : stage.ask(scenario.play));
  } finally {
    await stage.close();
  }
  const outcome: Outcome = {
    answers: stage.answers,
    refusals: refusals.map(({ code }) => code),
    errors: errors.map((error) => (error instanceof Error ? `${error.name}: ${error.message}` : error)),
    handled,
  };
  const nothing: Outcome = { answers: [], refusals: [], errors: [], handled: [] };
  const whole = { ...nothing, ...(typeof expected === 'function' ? expected(mode) : expected) };
  expect(outcome, name).toEqual(whole);
  // Threat A23: no key, signature or personal data in what goes to logs.
  const logged = inspect([refusals, errors], { depth: 8 });
  for (const secret of [SIGNING_KEY, OTHER_KEY, HASH, 'Example Customer', '256772000001'])
    expect(logged).not.toContain(secret);
}

async function mounted(
  application: Application,
  { kind, options, before, after, bridge }: Scenario,
  mode: Mode,
  hooks: { readonly signingKey: string },
  called: (verified: Verified | undefined) => unknown,
): Promise<Server> {
  const handle = async (verified: Verified | undefined): Promise<string> => {
    await called(verified);
    return 'passed through';
  };
  const handler = mode === 'handler' && { [kind === 'redirect' ? 'onRedirect' : 'onCallback']: called };
  const route = {
    options: { ...hooks, ...options, ...handler },
    handle: mode === 'handler' ? undefined : handle,
  };
  if (kind === 'redirect') return application.redirects({ path: REDIRECT_PATH, ...route });
  const server = await application.callbacks({ path: CALLBACK_PATH, before, after, ...route });
  if (bridge !== undefined) server.prependListener('request', bridge);
  return server;
}

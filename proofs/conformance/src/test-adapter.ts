import { describe, expect, test } from 'vitest';
import type { Application, Mode } from './application.ts';
import { playCallback, playRedirect } from './observation.ts';
import type { CallbackScenario, RedirectScenario } from './scenario.ts';
import { BRIDGE_SCENARIOS, CALLBACK_SCENARIOS, REDIRECT_SCENARIOS } from './scenarios/index.ts';

// Longer than the hang guard, whose message says more.
const TIMEOUT = { timeout: 60_000 };
const MODES: readonly Mode[] = ['handler', 'pass-through'];

/**
 * Runs every scenario against one adapter on one framework, on real sockets, in handler mode and in pass-through mode.
 *
 * @example
 * testAdapter('express 5', { callbacks: (route) => createServer(…), redirects: (route) => createServer(…) });
 */
export function testAdapter(name: string, application: Application): void {
  testScenarios(`${name}: callbacks`, CALLBACK_SCENARIOS, application, playCallback);
  testScenarios(`${name}: redirects`, REDIRECT_SCENARIOS, application, playRedirect);
  test(`${name}: a missing signing key is found when a route is mounted`, async () => {
    const route = { path: '/', options: { signingKey: undefined }, handle: undefined };
    const missing = { name: 'ConfigurationError', option: 'signingKey' };
    const callbacks = async () => application.callbacks({ ...route, before: undefined, after: undefined });
    await expect(callbacks()).rejects.toMatchObject(missing);
    await expect((async () => application.redirects(route))()).rejects.toMatchObject(missing);
  });
}

/** Runs the scenarios of bridges without `rawHeaders`, for an adapter that reads a node:http request (threat A38). */
export function testBridges(name: string, application: Application): void {
  testScenarios(`${name}: callbacks`, BRIDGE_SCENARIOS, application, playCallback);
}

function testScenarios<S extends CallbackScenario | RedirectScenario>(
  name: string,
  domains: Readonly<Record<string, readonly S[]>>,
  application: Application,
  play: (application: Application, scenario: S, mode: Mode) => Promise<void>,
): void {
  for (const mode of MODES) {
    for (const [domain, scenarios] of Object.entries(domains)) {
      describe(`${name}, ${mode}: ${domain}`, () => {
        for (const scenario of scenarios) {
          if (scenario.modes?.includes(mode) === false) continue;
          test(scenario.name, TIMEOUT, () => play(application, scenario, mode));
        }
      });
    }
  }
}

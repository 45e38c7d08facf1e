import { describe, expect, test } from 'vitest';
import type { Application, Mode } from './application.ts';
import { play } from './observation.ts';
import type { Scenario } from './scenario.ts';
import { BRIDGE_SCENARIOS, SCENARIOS } from './scenarios/index.ts';

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
  testScenarios(name, SCENARIOS, application);
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
  testScenarios(name, BRIDGE_SCENARIOS, application);
}

function testScenarios(name: string, scenarios: readonly Scenario[], application: Application): void {
  describe.each(MODES)(`${name}, %s mode`, (mode) => {
    for (const scenario of scenarios) {
      if (scenario.modes?.includes(mode) === false) continue;
      test(`${scenario.kind}s: ${scenario.name}`, TIMEOUT, () => play(application, scenario, mode));
    }
  });
}

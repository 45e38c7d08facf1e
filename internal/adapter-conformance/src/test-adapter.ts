import { describe, test } from 'vitest';
import type { Application, Mode } from './application.ts';
import { playCallback, playRedirect } from './observation.ts';
import { CALLBACK_SCENARIOS, REDIRECT_SCENARIOS } from './scenarios/index.ts';

// Above the hang guard, whose message says more.
const TIMEOUT = { timeout: 60_000 };
const MODES: readonly Mode[] = ['handler', 'hand-on'];

/**
 * Runs every scenario against one adapter on one framework, on real sockets, in handler mode and in hand-on mode.
 *
 * @example
 * testAdapter('express 5', { callbacks: (route) => createServer(…), redirects: (route) => createServer(…) });
 */
export function testAdapter(name: string, application: Application): void {
  for (const mode of MODES) {
    for (const [domain, scenarios] of Object.entries(CALLBACK_SCENARIOS)) {
      describe(`${name}: callbacks, ${mode}: ${domain}`, () => {
        for (const scenario of scenarios) {
          if (scenario.modes?.includes(mode) === false) continue;
          test(scenario.name, TIMEOUT, () => playCallback(application, scenario, mode));
        }
      });
    }
    for (const [domain, scenarios] of Object.entries(REDIRECT_SCENARIOS)) {
      describe(`${name}: redirects, ${mode}: ${domain}`, () => {
        for (const scenario of scenarios) {
          if (scenario.modes?.includes(mode) === false) continue;
          test(scenario.name, TIMEOUT, () => playRedirect(application, scenario, mode));
        }
      });
    }
  }
}

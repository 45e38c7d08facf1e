import type { CallbackScenario, RedirectScenario } from '../scenario.ts';
import { bodies } from './bodies.ts';
import { bridges } from './bridges.ts';
import { connections } from './connections.ts';
import { handlers } from './handlers.ts';
import { headers } from './headers.ts';
import { locations } from './locations.ts';
import { queries } from './queries.ts';
import { readers } from './readers.ts';

export const CALLBACK_SCENARIOS: Readonly<Record<string, readonly CallbackScenario[]>> = {
  bodies,
  headers,
  readers,
  handlers,
  connections,
};

/** For adapters that read a node:http request. */
export const BRIDGE_SCENARIOS: Readonly<Record<string, readonly CallbackScenario[]>> = { bridges };

export const REDIRECT_SCENARIOS: Readonly<Record<string, readonly RedirectScenario[]>> = {
  queries,
  locations,
};

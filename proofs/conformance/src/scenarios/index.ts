import type { CallbackScenarios, RedirectScenarios, Scenario } from '../scenario.ts';
import { bodies } from './bodies.ts';
import { bridges } from './bridges.ts';
import { connections } from './connections.ts';
import { handlers } from './handlers.ts';
import { headers } from './headers.ts';
import { locations } from './locations.ts';
import { queries } from './queries.ts';
import { readers } from './readers.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...[bodies, headers, readers, handlers, connections].flatMap((rows) => scenarios('callback', rows)),
  ...[queries, locations].flatMap((rows) => scenarios('redirect', rows)),
];

/** For adapters that read a node:http request. */
export const BRIDGE_SCENARIOS: readonly Scenario[] = scenarios('callback', bridges);

function scenarios(kind: Scenario['kind'], rows: CallbackScenarios | RedirectScenarios): readonly Scenario[] {
  const all = Object.entries(rows);
  return all.map(([name, [play, expected, setting]]) => ({ kind, name, play, expected, ...setting }));
}

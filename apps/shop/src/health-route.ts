import type { Inbox } from '@payment-service/inbox';
import type { Transaction } from './database/database.ts';
import { HELD_STATES } from './held.ts';
import { json } from './pages/page.ts';
import type { Route } from './route.ts';

const MAX_COUNTED = 1000;

/** For a monitor. */
export function healthRoute(inbox: Inbox<Transaction>): Route {
  return {
    method: 'get',
    path: '/healthz',
    answer: async () => {
      const health = await inbox.health();
      // What waits for a person is no reason to take the shop out of service: a monitor may alert on it.
      const needsPerson = health.problems.includes('store_unavailable') ? undefined : await countHeld(inbox);
      return json(health.ok ? 200 : 503, { ...health, needsPerson });
    },
  };
}

/** Few of each state, and not `stats()`, which counts all that is open: a monitor asks every few seconds. */
async function countHeld(inbox: Inbox<Transaction>): Promise<Readonly<Record<string, number>>> {
  const counts = HELD_STATES.map(async (state) => {
    const found = await inbox.list({ state, limit: MAX_COUNTED });
    return [state, found.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

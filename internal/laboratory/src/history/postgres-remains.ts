import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { READ_EFFECTS } from './effects.ts';
import type { Effect, History } from './judge-history.ts';

/** What is left on PostgreSQL, read past the inbox. */
export interface Remains extends Pick<History, 'kept'> {
  readonly effects: readonly Effect[];
  /** How many transitions are in each state. */
  readonly states: Readonly<Record<string, number>>;
}

/** A transition that a worker will still look at, now or later. */
export const OPEN = 'next_at is not null';

const KEPT = `select c.transition_id || ':' || encode(sha256(convert_to(b.content, 'UTF8')), 'hex') as body
  from payment_inbox.body b join payment_inbox.callback c on c.id = b.transition`;
const STATES = `select concat_ws(': ', state, reason) as state, count(*)::int as count from payment_inbox.transition
  group by 1 order by 1`;

/** As long as the workers may have nothing to show for. */
const STUCK_MS = 60_000;

/** Waits until the workers are done. */
export async function drained(client: pg.Client): Promise<void> {
  const end = performance.now() + STUCK_MS;
  const isOpen = `select 1 from payment_inbox.transition where ${OPEN} limit 1`;
  while ((await client.query(isOpen)).rowCount !== 0 && performance.now() < end) await wait(100);
}

export async function readRemains(client: pg.Client | pg.Pool): Promise<Remains> {
  const { rows: kept } = await client.query<{ body: string }>(KEPT);
  const { rows: states } = await client.query<{ state: string; count: number }>(STATES);
  const { rows: effects } = await client.query<Effect>(READ_EFFECTS);
  return {
    kept: new Set(kept.map(({ body }) => body)),
    states: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    effects,
  };
}

import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { effectOf, READ_EFFECTS } from './effects.ts';
import type { Effect, History } from './judge-history.ts';

/** A statement past the inbox, on whichever engine. */
export type Read = (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What is left, read past the inbox. */
export interface Remains extends Pick<History, 'kept'> {
  readonly effects: readonly Effect[];
  /** How many transitions are in each state. */
  readonly states: Readonly<Record<string, number>>;
}

/** A transition that a worker will still look at, now or later. */
export const OPEN = 'next_at is not null';

/** As long as the workers may have nothing to show for. */
const STUCK_MS = 60_000;

/** Waits until the workers are done. */
export async function drained(read: Read): Promise<void> {
  const end = performance.now() + STUCK_MS;
  const isOpen = `select 1 as one from payment_inbox.transition where ${OPEN} limit 1`;
  while ((await read(isOpen)).length > 0 && performance.now() < end) await wait(100);
}

/**
 * @param prefix of the inbox's tables.
 * @param readEffects where the merchant's table is in another database.
 */
export async function readRemains(read: Read, prefix: string, readEffects: Read = read): Promise<Remains> {
  const bodies = await read(
    `select c.transition_id as id, b.content as content from ${prefix}body b join ${prefix}callback c on c.id = b.transition`,
  );
  const states = await read(
    `select state || coalesce(': ' || reason, '') as state, count(*) as n from ${prefix}transition group by 1 order by 1`,
  );
  const digest = (content: unknown): string => createHash('sha256').update(String(content)).digest('hex');
  return {
    kept: new Set(bodies.map(({ id, content }) => `${id}:${digest(content)}`)),
    states: Object.fromEntries(states.map(({ state, n }) => [String(state), Number(n)])),
    effects: (await readEffects(READ_EFFECTS)).map(effectOf),
  };
}

import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { withClient } from '../load/postgres.ts';

/** What the last primary holds, read past the inbox. */
export interface Remains {
  /** References of the callbacks that are there with their bodies. */
  readonly stored: ReadonlySet<string>;
  /** The reference of each row that a handler wrote. */
  readonly effects: readonly string[];
  /** How many transitions are in each state. */
  readonly states: Readonly<Record<string, number>>;
}

export interface Tally {
  readonly acknowledged: number;
  /** Acknowledged callbacks that are not there. */
  readonly lostCallbacks: number;
  /** Acknowledged payments that no handler applied. */
  readonly lostPayments: number;
  readonly appliedOnce: number;
  readonly appliedTwice: number;
  /** Effects of payments that were never made. */
  readonly strangeEffects: number;
}

/** Pure: the record of the sender against what is left. */
export function tally(acknowledged: ReadonlySet<string>, { stored, effects }: Remains): Tally {
  const times = new Map<string, number>();
  for (const reference of effects) times.set(reference, (times.get(reference) ?? 0) + 1);
  const all = [...acknowledged];
  return {
    acknowledged: all.length,
    lostCallbacks: all.filter((reference) => !stored.has(reference)).length,
    lostPayments: all.filter((reference) => !times.has(reference)).length,
    appliedOnce: all.filter((reference) => times.get(reference) === 1).length,
    appliedTwice: [...times.values()].filter((count) => count > 1).length,
    strangeEffects: [...times.keys()].filter((reference) => !acknowledged.has(reference)).length,
  };
}

const WAITING = `select 1 from payment_inbox.transition where state in ('pending', 'retrying') limit 1`;
const STORED = `select cast(c.signed as json) ->> 'merchant_reference' as reference from payment_inbox.callback c
  where exists (select 1 from payment_inbox.body b where b.transition = c.id and b.content is not null)`;
const STATES = `select concat_ws(': ', state, reason) as state, count(*)::int as count from payment_inbox.transition
  group by 1 order by 1`;
/** As long as the workers may stand still. */
const STUCK_MS = 60_000;

/** Waits until the workers are done, and reads. */
export async function readRemains(url: string): Promise<Remains> {
  return withClient(url, async (client) => {
    const end = performance.now() + STUCK_MS;
    while ((await client.query(WAITING)).rowCount !== 0 && performance.now() < end) await wait(100);
    const references = async (text: string): Promise<string[]> =>
      (await client.query<{ reference: string }>(text)).rows.map(({ reference }) => reference);
    return {
      stored: new Set(await references(STORED)),
      effects: await references('select reference from merchant_effect'),
      states: await statesIn(client),
    };
  });
}

async function statesIn(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ state: string; count: number }>(STATES);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

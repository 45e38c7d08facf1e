/** What the merchant's programs leave behind, and how it is read at the end of a run. */
import { createHash } from 'node:crypto';
import type { HandledTransition } from '@payment-service/inbox';
import { monotonicMs } from '../measure/measure.ts';
import type { Effect, History } from './judge-history.ts';

/** The merchant's own table. It has no constraints: an effect that happens twice is two rows. */
export const EFFECT_TABLE = `create table if not exists merchant_effect (
  payment text not null, subject text not null, transition text not null, status text not null, money text not null,
  began double precision not null, ended double precision not null
)`;

export const INSERT_EFFECT: Readonly<Record<'postgres' | 'sqlite', string>> = {
  postgres: 'insert into merchant_effect values ($1, $2, $3, $4, $5, $6, $7)',
  sqlite: 'insert into merchant_effect values (?, ?, ?, ?, ?, ?, ?)',
};
export type EffectValues = readonly (string | number)[];

/** In the order of the columns. @param began when the handler began. */
export function effectValues(
  { signed, settled, transitionId }: HandledTransition<unknown>,
  began: number,
): EffectValues {
  const money = settled === undefined ? '' : `${settled.currency} ${settled.amount}`;
  const { merchant_reference, internal_reference, transaction_status } = signed;
  const known = [merchant_reference, internal_reference, transitionId, transaction_status, money];
  return [...known, began, monotonicMs()];
}

/** Runs a statement directly on either engine, not through the inbox. */
export type Read = (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What is left, read directly and not through the inbox. */
export interface Remains extends Pick<History, 'kept'> {
  readonly effects: readonly Effect[];
  /** How many transitions are in each state. */
  readonly states: Readonly<Record<string, number>>;
}

/** A transition that a worker will still process, now or later. */
export const OPEN = 'next_at is not null';

/** The prefixes of the inbox's tables. */
export const PREFIX: Readonly<Record<'postgres' | 'sqlite', string>> = {
  postgres: 'payment_inbox.',
  sqlite: 'payment_inbox_',
};

/** @param prefix the prefix of the inbox's tables. */
export async function readRemains(read: Read, prefix: string): Promise<Remains> {
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
    effects: await readEffects(read),
  };
}

/** The columns have the names and types of the effect's members, on either engine. */
export async function readEffects(read: Read): Promise<readonly Effect[]> {
  return (await read('select * from merchant_effect')) as readonly unknown[] as readonly Effect[];
}

/** What the merchant's programs leave behind, and how it is read at the end of a run. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Handled } from '@payment-service/inbox';
import { monotonicMs } from '../measure/measure.ts';
import type { Effect, History } from './judge-history.ts';

/** The merchant's own table, of effects in JSON. It has no constraints: an effect that happens twice is two rows. */
export const EFFECT_TABLE = 'create table if not exists merchant_effect (effect text not null)';

export const INSERT_EFFECT: Readonly<Record<'postgres' | 'sqlite', string>> = {
  postgres: 'insert into merchant_effect values ($1)',
  sqlite: 'insert into merchant_effect values (?)',
};

/** @param began when the handler began. */
export function effectOf(
  { signed, payment: { settled }, id: transitionId }: Handled<unknown>,
  began: number,
): Effect {
  return {
    payment: signed.merchant_reference,
    subject: signed.internal_reference,
    transition: transitionId,
    status: signed.transaction_status,
    money: settled === undefined ? '' : `${settled.currency} ${settled.amount}`,
    began,
    ended: monotonicMs(),
  };
}

/** Runs a statement directly on either engine, not through the inbox. */
export type Read = (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/**
 * A transition that a worker will still process. One that waits for an expectation or another body is rechecked for about four
 * hours; after three rechecks in vain, in seven seconds, nothing more arrives for it in a run.
 */
export const OPEN = "next_at is not null and (state in ('pending', 'retrying') or looks < 4)";

/** The prefixes of the inbox's tables. */
export const PREFIX: Readonly<Record<'postgres' | 'sqlite', string>> = {
  postgres: 'payment_inbox.',
  sqlite: 'payment_inbox_',
};

/** What is left, read directly and not through the inbox. @param outside the file of the control's effects. */
export async function readRemains(
  read: Read,
  prefix: string,
  outside: string,
): Promise<Omit<History, 'requests'>> {
  const bodies = await read(
    `select c.transition_id as id, b.content as content from ${prefix}body b join ${prefix}callback c on c.id = b.transition`,
  );
  const effects = (await read('select effect from merchant_effect')).map(({ effect }) => String(effect));
  if (existsSync(outside)) effects.push(...readFileSync(outside, 'utf8').trim().split('\n'));
  const digest = (content: unknown): string => createHash('sha256').update(String(content)).digest('hex');
  return {
    kept: new Set(bodies.map(({ id, content }) => `${id}:${digest(content)}`)),
    effects: effects.map((effect) => JSON.parse(effect)),
  };
}

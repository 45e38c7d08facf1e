import type { HandledTransition } from '@payment-service/inbox';
import { monotonicMs } from '../measure/measure.ts';
import type { Effect } from './judge-history.ts';

/** The merchant's own table. No constraint on it: an effect that happens twice is two rows. */
export const EFFECT_TABLE = `create table if not exists merchant_effect (
  payment text not null, subject text not null, transition text not null, status text not null, money text not null,
  began double precision not null, ended double precision not null
)`;

const COLUMNS = 'payment, subject, transition, status, money, began, ended';
export const READ_EFFECTS: string = `select ${COLUMNS} from merchant_effect`;
export const INSERT_EFFECT: Readonly<Record<'postgres' | 'sqlite', string>> = {
  postgres: `insert into merchant_effect (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`,
  sqlite: `insert into merchant_effect (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`,
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

/** A row of either engine. */
export function effectOf(row: Readonly<Record<string, unknown>>): Effect {
  const of = (column: string): string => String(row[column]);
  const [began, ended] = [Number(row['began']), Number(row['ended'])];
  const [payment, subject, transition] = [of('payment'), of('subject'), of('transition')];
  return { payment, subject, transition, status: of('status'), money: of('money'), began, ended };
}

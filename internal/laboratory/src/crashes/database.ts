/** Where the inbox and the merchant's own tables are; handed to every process as JSON. */
export type Database =
  | { readonly store: 'postgres'; readonly url: string }
  | {
      readonly store: 'sqlite';
      readonly path: string;
      /** Of a second file, which a handler can write to while the inbox holds the write lock of the first. */
      readonly outsidePath: string;
    };

/** One row of the merchant's own table. No constraint on it: an effect that happens twice shows as two rows. */
export interface Effect {
  readonly transitionId: string;
  readonly reference: string;
  readonly status: string;
  /** Of the merchant's expectation; '' for a transition that settles nothing. */
  readonly currency: string;
  readonly amount: string;
}

export const EFFECT_TABLE = `create table if not exists merchant_effect (
  transition_id text not null, reference text not null, status text not null, currency text not null,
  amount text not null
)`;

export const EFFECT_COLUMNS = 'transition_id, reference, status, currency, amount';

/** A row of it, as either driver gives it. */
export function effectOf(row: Readonly<Record<string, string>>): Effect {
  const { transition_id: transitionId = '', reference = '', status = '', currency = '', amount = '' } = row;
  return { transitionId, reference, status, currency, amount };
}

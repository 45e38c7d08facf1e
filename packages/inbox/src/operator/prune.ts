import { checkOptions } from '@payment-service/core/internal';
import { wholeNumber } from '../option-rules.ts';
import type { Statements } from '../store/statements.ts';
import { numberOf, type Row, textOf } from '../store/store.ts';
import { archiveKey } from '../verdict/archived.ts';
import { signedIn } from '../verdict/stored-values.ts';
import { DAY_MS } from './history.ts';
import type { OperatorContext } from './reports.ts';

/** What `prune()` removes. */
export interface PruneOptions {
  /**
   * Removes the content of bodies of final and unhandled transitions, counted from the last delivery, and the errors of their
   * attempts, counted from the last change. @default 90
   */
  readonly bodiesOlderThanDays?: number | undefined;
  /**
   * The same for transitions that wait for an operator: `quarantined`, `conflict` and `dead`. Their claims stay for that operator.
   * @default 365
   */
  readonly waitingBodiesOlderThanDays?: number | undefined;
  /**
   * Moves settled and superseded transitions into the archive, counted from the last change and the last delivery. There a row
   * of about 250 bytes prevents them from being applied again and records their outcome. @default nothing is archived
   */
  readonly archiveOlderThanDays?: number | undefined;
}

/** How much `prune()` has removed. */
export interface Pruned {
  /** Bodies whose content was removed. */
  readonly bodies: number;
  /** Transitions that were moved into the archive. */
  readonly archived: number;
}

/** In milliseconds: for final and unhandled transitions, and for those that wait for an operator. */
type Ages = readonly [over: number, waiting: number];
/** No rule and no operator moves them any more. Transitions that an operator closed are excluded: they stay with their notes. */
const FINAL = ['settled', 'superseded'] as const;

export async function prune<Tx>(context: OperatorContext<Tx>, options: PruneOptions): Promise<Pruned> {
  const days = wholeNumber(100_000);
  const rules = { bodiesOlderThanDays: days, waitingBodiesOlderThanDays: days, archiveOlderThanDays: days };
  checkOptions('prune()', options, rules);
  const { bodiesOlderThanDays = 90, waitingBodiesOlderThanDays = 365, archiveOlderThanDays } = options;
  let archived = 0;
  // First, so that no content is removed from a transition that is moved as a whole.
  if (archiveOlderThanDays !== undefined)
    for (const state of FINAL) archived += await archive(context, state, archiveOlderThanDays * DAY_MS);
  const ages = [bodiesOlderThanDays * DAY_MS, waitingBodiesOlderThanDays * DAY_MS] as const;
  const { statements, settings } = context;
  // In batches, counted from the last change of their transition.
  while ((await statements.run('prune_failures', [settings.account, ...ages])).length > 0);
  return { bodies: await pruneBodies(context, ages), archived };
}

/** In batches, each in one transaction: everything else sees a transition either here or in the archive. */
async function archive<Tx>(
  { store, statements, settings: { account } }: OperatorContext<Tx>,
  state: (typeof FINAL)[number],
  ageMs: number,
): Promise<number> {
  let archived = 0;
  for (let mark: readonly [number, number] | undefined = [-1, 0]; mark !== undefined; ) {
    const [changedAt, after] = mark;
    mark = await store.transaction(async (tx) => {
      const values = [account, state, changedAt, after, ageMs];
      const found = await statements.run('find_archivable', values, tx);
      const free = found.filter((row) => Boolean(row['is_free']));
      if (free.length > 0) archived += await move(statements, account, free, tx);
      const last = found.at(-1);
      return last && ([numberOf(last, 'changed_at'), numberOf(last, 'id')] as const);
    });
  }
  return archived;
}

/** In this order: a payment is found by the callback that has settled it. */
const DROPS = ['payments', 'failures', 'deliveries', 'bodies', 'transitions', 'callbacks'] as const;

/** @returns how many. */
async function move<Tx>(
  statements: Statements<Tx>,
  account: string,
  rows: readonly Row[],
  tx: Tx,
): Promise<number> {
  const given = JSON.stringify(rows.map(givenIn));
  await statements.run('add_archive_kinds', [given], tx);
  const moved = (await statements.run('archive', [given], tx)).map((row) => numberOf(row, 'id'));
  for (const name of DROPS) await statements.run(`drop_${name}`, [JSON.stringify(moved)], tx);
  await statements.run('count_archived', [account, moved.length], tx);
  return moved.length;
}

/** What the archive keeps of a transition in columns that the transition itself does not have. */
function givenIn(row: Row): object {
  const { event, transaction_status, merchant_reference, internal_reference } = signedIn(row);
  return {
    id: numberOf(row, 'id'),
    key: archiveKey(textOf(row, 'transition_id')),
    event: JSON.stringify(event),
    status: JSON.stringify(transaction_status),
    merchantReference: JSON.stringify(merchant_reference),
    internalReference: JSON.stringify(internal_reference),
  };
}

/** Removes the content of old bodies. Their claims and digests stay, so that a repetition is recognized. */
async function pruneBodies<Tx>({ statements, settings }: OperatorContext<Tx>, ages: Ages): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    // In batches, so that other transactions wait only briefly.
    const pruned = await statements.run('prune_bodies', [after, settings.account, ...ages]);
    if (pruned.length === 0) return count;
    count += pruned.length;
    // The last transition may have more bodies than this, so it is read again.
    after = Math.max(...pruned.map((row) => numberOf(row, 'transition'))) - 1;
  }
}

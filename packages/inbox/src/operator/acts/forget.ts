import { checkArgument, checkOptions } from '@payment-service/core/internal';
import { type ActionNote, asInput, NOTE_RULES } from '../../action-note.ts';
import { claimsDigest, referenceKey } from '../../delivery/stored-delivery.ts';
import { isForgotten } from '../../intake/keep-deliveries.ts';
import { STRING } from '../../option-rules.ts';
import type { Statements } from '../../store/statements.ts';
import { numberOf, type Row, textOf } from '../../store/store.ts';
import { findArchived } from '../../verdict/archived.ts';
import { jsonIn } from '../../verdict/stored-values.ts';
import type { OperatorContext } from '../reports.ts';
import { addAction } from './action-log.ts';

/** What `forget()` has removed; all 0 if no personal data was left. */
export interface Forgotten {
  /** Transitions from which something was removed, or whose later bodies are now kept without their content. */
  readonly transitions: number;
  /** Bodies whose content was removed. */
  readonly bodies: number;
  /** Archived transitions, which hold no personal data: the content of their later bodies is not kept either. */
  readonly archived: number;
}

const REMOVED = '(removed by forget())';

/** Removes the content of bodies, its hashes, the errors and the earlier notes, and keeps the claims and the signed fields. */
export async function forget<Tx>(
  { store, statements, settings: { account } }: OperatorContext<Tx>,
  reference: string,
  given: ActionNote,
): Promise<Forgotten> {
  asInput(NOTE_RULES, () => checkOptions('forget()', given ?? {}, NOTE_RULES));
  checkArgument('forget()', 'merchant_reference', reference, STRING);
  return store.transaction(async (tx) => {
    const counts = { transitions: 0, bodies: 0, archived: 0 };
    const key = referenceKey(reference, account);
    // Before their reports, as a settlement and expect() lock them.
    const noted = await forgetNotes(statements, [key, account], tx);
    const rows = await statements.run('find_forgettable', [key, account], tx);
    for (const type of rows.length === 0 ? noted : [])
      await addAction(statements, { ...given, action: 'forget' }, [key, type], tx);
    for (const row of rows) {
      const [id, transitionId] = [numberOf(row, 'id'), textOf(row, 'transition_id')];
      await statements.run('lock_named_transition', [transitionId, account], tx);
      const { contents, hashes } = await forgetBodies(statements, row, tx);
      const errors = await statements.run('forget_error', [id], tx);
      const failures = await statements.run('forget_failures', [id], tx);
      const notes = await statements.run('forget_notes', [id, REMOVED], tx);
      counts.bodies += contents;
      const removed = contents + hashes + errors.length + failures.length + notes.length;
      if (removed === 0 && (await isForgotten(statements, transitionId, tx))) continue;
      await addAction(statements, { ...given, action: 'forget' }, id, tx);
      counts.transitions += 1;
    }
    const keys = { merchant_reference: reference };
    for (const { id, transitionId } of await findArchived(statements, { keys, account }, tx)) {
      if (await isForgotten(statements, transitionId, tx)) continue;
      await addAction(statements, { ...given, action: 'forget' }, id, tx);
      counts.archived += 1;
    }
    return counts;
  });
}

/** The notes of acts on the payments themselves. @returns their types, as JSON. */
async function forgetNotes<Tx>(
  statements: Statements<Tx>,
  [key, account]: readonly [string, string],
  tx: Tx,
): Promise<string[]> {
  const changed: string[] = [];
  for (const row of await statements.run('lock_payments', [key, account], tx)) {
    const type = textOf(row, 'transaction_type');
    const notes = await statements.run('forget_payment_notes', [key, type, REMOVED], tx);
    const replaced = jsonIn(row, 'replaced');
    const kept = (Array.isArray(replaced) ? replaced : []).map((each) => ({ ...each, note: REMOVED }));
    const isSame = JSON.stringify(kept) === JSON.stringify(replaced);
    if (!isSame) await statements.run('forget_replaced', [key, type, JSON.stringify(kept)], tx);
    if (!isSame || notes.length > 0) changed.push(type);
  }
  return changed;
}

async function forgetBodies<Tx>(
  statements: Statements<Tx>,
  transition: Row,
  tx: Tx,
): Promise<{ readonly contents: number; readonly hashes: number }> {
  const [id, signed] = [numberOf(transition, 'id'), textOf(transition, 'signed')];
  const bodies = (await statements.run('find_contents', [id], tx)).map((row) => ({
    digest: textOf(row, 'digest'),
    claims: textOf(row, 'claims'),
    hasContent: numberOf(row, 'has_content') === 1,
  }));
  let [contents, hashes] = [0, 0];
  for (const [claims, same] of Map.groupBy(bodies, (body) => body.claims)) {
    const digests = same.map((_body, place) => claimsDigest({ signed, claims }, place));
    const free = digests.filter((digest) => same.every((body) => body.digest !== digest));
    for (const { digest, hasContent } of same) {
      const next = digests.includes(digest) ? digest : (free.shift() ?? digest);
      if (next === digest && !hasContent) continue;
      if (hasContent) contents += 1;
      if (next !== digest) hashes += 1;
      for (const name of ['forget_body', 'forget_delivery', 'forget_settled'])
        await statements.run(name, [id, digest, next], tx);
    }
  }
  return { contents, hashes };
}

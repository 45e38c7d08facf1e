import { randomUUID } from 'node:crypto';
import type { Statements } from '../store/statements.ts';
import { numberOf, type Row, type SqlValue, textOf } from '../store/store.ts';
import { readCase } from '../work/case.ts';
import { type Claims, equalsExpectation } from '../work/evaluate.ts';
import { type IntakeRecord, MAX_BODIES, MAX_EVIDENCE } from './record.ts';

/** The first of its transition; another body; kept before; not kept, since as many bodies are kept as can be. */
export type IntakeOutcome = 'new' | 'new_body' | 'known' | 'full';

/** What keeping needs of the store. */
export interface KeepContext<Tx> {
  readonly statements: Statements<Tx>;
  /** In which the server gives up before the sender of a callback is given up. */
  readonly transact: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
  /** Of a statement without a transaction, in milliseconds. */
  readonly limitMs: number;
}

/**
 * Keeps a group of deliveries, and says for each what became of it. Everything is taken in the order of the transitions' ids
 * and of the tables, so that two groups cannot wait for each other.
 *
 * @param tx The transaction for all of them. Without it, first deliveries have their own, which saves two round trips.
 */
export async function keepGroup<Tx>(
  { statements, transact, limitMs }: KeepContext<Tx>,
  records: readonly IntakeRecord[],
  tx?: Tx,
): Promise<readonly IntakeOutcome[]> {
  const outcomes = new Map<IntakeRecord, IntakeOutcome>();
  const sorted = [...records].sort(byTransition);
  const firsts = sorted.filter((record, index) => sorted[index - 1]?.transitionId !== record.transitionId);
  const created = await statements.run('keep_firsts', [JSON.stringify(firsts)], tx, limitMs);
  const news = new Set(created.map((row) => textOf(row, 'transition_id')));
  for (const record of firsts) if (news.has(record.transitionId)) outcomes.set(record, 'new');
  const others = sorted.filter((record) => !outcomes.has(record));
  const rest = (own: Tx): Promise<void> => keepOthers(statements, { others, outcomes }, own);
  if (others.length > 0) await (tx === undefined ? transact(rest) : rest(tx));
  return records.map((record) => outcomes.get(record) ?? 'full');
}

/** Of known transitions. Repetitions are written together; a body that was not kept before takes the lock of its transition. */
async function keepOthers<Tx>(
  statements: Statements<Tx>,
  { others, outcomes }: { others: readonly IntakeRecord[]; outcomes: Map<IntakeRecord, IntakeOutcome> },
  tx: Tx,
): Promise<void> {
  const keys = others.map(({ transitionId, digest }) => ({ transitionId, digest }));
  const rows = await statements.run('find_known', [JSON.stringify(keys)], tx);
  const known = new Map(rows.map((row) => [textOf(row, 'transition_id') + textOf(row, 'digest'), row]));
  const idOf = (key: string): number => numberOf(known.get(key) ?? {}, 'id');
  const repeated = others.filter((record) => isRepeated(record, known.get(keyOf(record))));
  const counts = [...Map.groupBy(repeated, keyOf)].map(([key, same]) => {
    return { id: idOf(key), digest: same[0]?.digest, repeats: same.length };
  });
  if (counts.length > 0) await statements.run('count_deliveries', [JSON.stringify(counts)], tx);
  for (const record of repeated) outcomes.set(record, 'known');
  for (const record of others) {
    if (outcomes.has(record)) continue;
    outcomes.set(record, await addBody(statements, { record, id: idOf(keyOf(record)) }, tx));
  }
}

/**
 * Keeps a made-up callback and its repetition in a transaction that is rolled back: nothing else tells whether the store
 * takes a callback. Its id is its own, so that it waits for no other. Rejects with what keeping a callback meets.
 */
export async function tryToKeep<Tx>(context: KeepContext<Tx>, account: string): Promise<void> {
  const undo = new Error('rolled back');
  const id = `check ${randomUUID()}`;
  const keys = { transitionId: id, account, referenceKey: id, subjectKey: id, digest: id };
  const rest = { signed: '{}', transactionType: '""', content: '', claims: '{}', keyId: '', refusal: null };
  const made: IntakeRecord = { ...keys, ...rest };
  const kept = context.transact(async (tx) => {
    await keepGroup(context, [made, { ...made }], tx);
    throw undo;
  });
  await kept.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
}

/**
 * A callback that the limit of bodies keeps out is judged by its amounts: a body that equals the expectation is always
 * admitted, so that forged ones do not crowd it out (threat A5, threat A34). One such body is enough: a later one counts as
 * its delivery, so that one signature cannot fill the disk.
 */
async function addBody<Tx>(
  statements: Statements<Tx>,
  { record, id }: { readonly record: IntakeRecord; readonly id: number },
  tx: Tx,
): Promise<IntakeOutcome> {
  const { digest, refusal } = record;
  await statements.run('lock_transition', [id], tx);
  const file = await readCase(statements, id, tx);
  const [found] = await statements.run('find_known', [JSON.stringify([record])], tx);
  const repeat = async (repeated: string): Promise<IntakeOutcome> => {
    await statements.run('count_deliveries', [JSON.stringify([{ id, digest: repeated, repeats: 1 }])], tx);
    return 'known';
  };
  // Another group was faster.
  if (isRepeated(record, found)) return repeat(digest);
  const isEvidence = found?.['refusal'] != null;
  const { bodies = [], refusals = [], expectation } = file ?? {};
  const count = refusal === null ? bodies.length : refusals.length;
  const isFull = count >= (refusal === null ? MAX_BODIES : MAX_EVIDENCE) && record.isAcknowledged !== true;
  if (!isEvidence && isFull) {
    const claims = JSON.parse(record.claims) as Claims;
    const isEqual = refusal === null && expectation !== undefined && equalsExpectation(claims, expectation);
    const equal = isEqual ? bodies.find((body) => equalsExpectation(body, expectation)) : undefined;
    if (equal !== undefined) return repeat(equal.digest);
    if (!isEqual) {
      await statements.run('count_refused_body', [id], tx);
      return 'full';
    }
  }
  await statements.run('keep_body', [JSON.stringify([{ ...record, id }])], tx);
  if (isEvidence) await repeat(digest);
  const values: SqlValue[] = [id, isEvidence ? 0 : 1, refusal === null ? 1 : 0];
  await statements.run('count_body', values, tx);
  return 'new_body';
}

/** What is kept as evidence only is not the same delivery once its body verifies. */
function isRepeated({ refusal }: IntakeRecord, known: Row | undefined): boolean {
  return known?.['body'] != null && (known['refusal'] === null || refusal !== null);
}

function keyOf({ transitionId, digest }: IntakeRecord): string {
  return transitionId + digest;
}

/** Hexadecimal digits sort in the same way here and in the database. */
function byTransition(one: IntakeRecord, other: IntakeRecord): number {
  const by = one.transitionId === other.transitionId ? 'digest' : 'transitionId';
  return one[by] < other[by] ? -1 : one[by] > other[by] ? 1 : 0;
}

import { randomBytes } from 'node:crypto';
import { type IntakeRecord, withoutContent } from '../delivery/stored-delivery.ts';
import type { Statements } from '../store/statements.ts';
import { type Call, numberOf, type Row, textOf } from '../store/store.ts';
import { archiveKey, findArchived } from '../verdict/archived.ts';
import { readCase } from '../verdict/case-file.ts';
import { type Claims, equalsExpectation } from '../verdict/evaluate.ts';
import { claimsIn } from '../verdict/stored-values.ts';
import { MAX_BODIES, MAX_EVIDENCE } from './verified-record.ts';

/** The first of its transition; another body; kept before; not kept: the body limit is reached. */
export type IntakeOutcome = 'new' | 'new_body' | 'known' | 'full';

export interface KeepContext<Tx> {
  readonly statements: Statements<Tx>;
  /** How long a statement or a transaction may take, in milliseconds, so that the server gives up before the sender does. */
  readonly limitMs: number;
}

/** Deliveries of one transition, and the outcomes of all. */
interface OfTransition {
  readonly records: readonly IntakeRecord[];
  readonly outcomes: Map<IntakeRecord, IntakeOutcome>;
}

/**
 * Keeps the first deliveries of a group, and leaves the others undefined. It never waits for a row lock: the insert skips
 * committed transitions.
 *
 * @param tx The transaction for all of them. Without it they get their own, which saves two round trips.
 * @param after Without `tx`: what the store runs when they are kept.
 */
export async function keepFirsts<Tx>(
  { statements, limitMs }: KeepContext<Tx>,
  records: readonly IntakeRecord[],
  tx?: Tx,
  after?: Call,
): Promise<readonly (IntakeOutcome | undefined)[]> {
  // In the order of ids, so that two groups cannot wait for each other.
  const sorted = [...records].sort(byTransition);
  const firsts = sorted.filter((record, index) => sorted[index - 1]?.transitionId !== record.transitionId);
  const given = JSON.stringify(firsts.map(withArchiveKeys));
  const created = await statements.run('keep_firsts', [given], tx, limitMs, after);
  const news = new Set(created.map((row) => textOf(row, 'transition_id')));
  const kept = new Set(firsts.filter(({ transitionId }) => news.has(transitionId)));
  return records.map((record) => (kept.has(record) ? 'new' : undefined));
}

/** Adds the keys that find its transition in the archive. Two ids can share a key. */
function withArchiveKeys(record: IntakeRecord): object {
  const { internal_reference } = JSON.parse(record.signed);
  const internalReference = JSON.stringify(internal_reference) ?? null;
  return { ...record, archiveKey: archiveKey(record.transitionId), internalReference };
}

/**
 * Keeps deliveries of known transitions. Repetitions are written together; bodies that were not kept before take the lock of
 * their transition. A lock that is already held is skipped, since waiting for it would delay everything else here (threat A59).
 */
export async function keepOthers<Tx>(
  statements: Statements<Tx>,
  records: readonly IntakeRecord[],
  tx: Tx,
): Promise<readonly (IntakeOutcome | 'busy')[]> {
  const outcomes = new Map<IntakeRecord, IntakeOutcome>();
  const known = await findKnown(statements, records, tx);
  const rowOf = (record: IntakeRecord): Row => known.get(keyOf(record)) ?? {};
  const free = records.filter((record) => rowOf(record)['is_free']);
  const repeated = free.filter((record) => isRepeated(record, rowOf(record)));
  const counts = [...Map.groupBy(repeated, rowOf)].map(([row, same]) => {
    return { id: numberOf(row, 'id'), digest: textOf(row, 'digest'), repeats: same.length };
  });
  if (counts.length > 0) await statements.run('count_deliveries', [JSON.stringify(counts)], tx);
  for (const record of repeated) outcomes.set(record, 'known');
  const others = free.filter((record) => !outcomes.has(record));
  for (const [id, same] of Map.groupBy(others, (record) => numberOf(rowOf(record), 'id')))
    await addBodies(statements, { records: same, id, outcomes }, tx);
  const missing = records.filter((record) => !known.has(keyOf(record)));
  for (const same of Map.groupBy(missing, ({ transitionId }) => transitionId).values())
    await keepArchived(statements, { records: same, outcomes }, tx);
  return records.map((record) => outcomes.get(record) ?? 'busy');
}

/**
 * Deliveries of a transition that is no longer here. If the archive has it, a body that claims the settled money is a
 * repetition, and so is every body if it settled none. A body that claims something else is kept beside the archive, and
 * nothing is applied from it.
 */
async function keepArchived<Tx>(
  statements: Statements<Tx>,
  { records, outcomes }: OfTransition,
  tx: Tx,
): Promise<void> {
  const [{ transitionId, account } = { transitionId: '', account: '' }] = records;
  const [archived] = await findArchived(statements, { keys: { transitionId }, account }, tx);
  if (archived === undefined) return;
  const { expectation } = archived;
  const isKnown = ({ claims }: IntakeRecord): boolean =>
    expectation === undefined || equalsExpectation(claimsIn({ claims }), expectation);
  for (const record of records.filter(isKnown)) outcomes.set(record, 'known');
  const other = records.find((record) => !isKnown(record));
  if (other === undefined) return;
  const first = (await isForgotten(statements, transitionId, tx)) ? withoutContent(other) : other;
  // The others find it and become its further bodies.
  const given = { ...withArchiveKeys(first), isArchived: 1 };
  const kept = await statements.run('keep_firsts', [JSON.stringify([given])], tx);
  if (kept.length > 0) outcomes.set(other, 'new_body');
}

/** An operator has removed the content of the bodies of this transition, so no further content is kept. */
export async function isForgotten<Tx>(
  statements: Statements<Tx>,
  transitionId: string,
  tx: Tx,
): Promise<boolean> {
  const found = await statements.run('find_forgotten', [transitionId, archiveKey(transitionId)], tx);
  return found.length > 0;
}

async function findKnown<Tx>(
  statements: Statements<Tx>,
  records: readonly IntakeRecord[],
  tx: Tx,
): Promise<ReadonlyMap<string, Row>> {
  const keys = records.map(({ transitionId, digest }) => ({ transitionId, digest }));
  const rows = await statements.run('find_known', [JSON.stringify(keys)], tx);
  return new Map(rows.map((row) => [textOf(row, 'transition_id') + textOf(row, 'digest'), row]));
}

/**
 * Keeps a made-up callback and its repetition in a transaction that is rolled back, with an id of its own, so that it waits for
 * no other. A transaction that is rolled back may never reach a full disk (threat A52), so a few bytes are committed after it.
 * Rejects with the error that a callback would meet.
 */
export async function tryToKeep<Tx>(context: KeepContext<Tx>, account: string): Promise<void> {
  const undo = new Error('rolled back');
  const id = randomBytes(32).toString('hex');
  const keys = { transitionId: id, account, referenceKey: id, subjectKey: id, digest: id };
  const rest = { signed: '{}', transactionType: '""', content: '', claims: '{}', keyId: '' };
  const made: IntakeRecord = { ...keys, ...rest, isDue: 1, refusal: null, traceparent: null, provider: null };
  const { statements, limitMs } = context;
  const kept = statements.limited(limitMs, async (tx) => {
    await keepFirsts(context, [made], tx);
    await keepOthers(statements, [made], tx);
    throw undo;
  });
  await kept.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  await statements.run('beat', [account], undefined, limitMs);
}

/**
 * Adds all bodies of one transition together, so that a flood of them takes as many statements as one. When the limit of bodies
 * is reached, a callback is judged by its amounts: a body that equals the expectation is always admitted, so that forged ones
 * cannot block it (threat A5, threat A34). One such body is enough: a later one counts as its delivery, so that one signature
 * cannot fill the disk.
 */
async function addBodies<Tx>(
  statements: Statements<Tx>,
  { records, outcomes, id }: OfTransition & { readonly id: number },
  tx: Tx,
): Promise<void> {
  if ((await statements.run('lock_transition', [id], tx)).length === 0) return;
  const { bodies: verified = [], refusals = [], expectation } = (await readCase(statements, id, tx)) ?? {};
  const [{ transitionId } = { transitionId: '' }] = records;
  const hasNoContent = await isForgotten(statements, transitionId, tx);
  const asKept = (record: IntakeRecord): IntakeRecord => (hasNoContent ? withoutContent(record) : record);
  // Once more: another group may have been faster.
  const rows = [...(await findKnown(statements, records.map(asKept), tx)).values()];
  const known = new Map(
    rows.filter((row) => row['body'] !== null).map((row) => [textOf(row, 'digest'), row]),
  );
  const bodies = [...verified];
  const added = new Map<string, IntakeRecord>();
  const repeats = new Map<string, number>();
  const repeat = (digest: string): void => void repeats.set(digest, (repeats.get(digest) ?? 0) + 1);
  let [evidence, news, refused] = [refusals.length, 0, 0];
  for (const delivered of records) {
    const record = asKept(delivered);
    const { digest, refusal } = record;
    const found = added.has(digest) ? { body: id, refusal: added.get(digest)?.refusal } : known.get(digest);
    const isEqual = (claims: Claims): boolean =>
      expectation !== undefined && equalsExpectation(claims, expectation);
    const claims = claimsIn({ claims: record.claims });
    const isFull = refusal === null ? bodies.length >= MAX_BODIES : evidence >= MAX_EVIDENCE;
    const isExcess = found === undefined && isFull && record.isAcknowledged !== true;
    const isAdmitted = refusal === null && isEqual(claims);
    const equal = isExcess && isAdmitted ? bodies.find(isEqual) : undefined;
    const same = isRepeated(record, found) ? digest : equal?.digest;
    if (same !== undefined) {
      repeat(same);
      outcomes.set(delivered, 'known');
    } else if (isExcess && !isAdmitted) {
      refused += 1;
      outcomes.set(delivered, 'full');
    } else {
      // The evidence becomes a callback.
      if (found === undefined) news += 1;
      else repeat(digest);
      if (refusal === null) bodies.push({ digest, ...claims });
      evidence += (refusal === null ? 0 : 1) - (found === undefined ? 0 : 1);
      added.set(digest, record);
      outcomes.set(delivered, 'new_body');
    }
  }
  const write = async (name: string, rows: readonly object[]): Promise<void> => {
    if (rows.length > 0) await statements.run(name, [JSON.stringify(rows)], tx);
  };
  const counts = [...repeats].map(([digest, count]) => ({ id, digest, repeats: count }));
  const kept = [...added.values()].map((record) => ({ ...record, id }));
  await write('keep_body', kept);
  await write('count_deliveries', counts);
  const isCallback = [...added.values()].some(({ refusal }) => refusal === null);
  if (added.size > 0) await statements.run('count_body', [id, news, isCallback ? 1 : 0], tx);
  if (refused > 0) await statements.run('count_refused_bodies', [id, refused], tx);
}

/** A body kept as evidence only is not the same delivery once it verifies. */
function isRepeated({ refusal }: IntakeRecord, known: Row | undefined): boolean {
  return known?.['body'] != null && (known['refusal'] === null || refusal !== null);
}

function keyOf({ transitionId, digest }: IntakeRecord): string {
  return transitionId + digest;
}

/** Hexadecimal digits are sorted in the same way here and in the database. */
function byTransition(one: IntakeRecord, other: IntakeRecord): number {
  const by = one.transitionId === other.transitionId ? 'digest' : 'transitionId';
  return one[by] < other[by] ? -1 : one[by] > other[by] ? 1 : 0;
}

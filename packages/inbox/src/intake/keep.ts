import { randomUUID } from 'node:crypto';
import type { Statements } from '../store/statements.ts';
import { numberOf, type Row, type SqlValue, textOf } from '../store/store.ts';
import { readCase } from '../work/case.ts';
import { equalsExpectation } from '../work/evaluate.ts';
import { type IntakeRecord, MAX_BODIES, MAX_EVIDENCE } from './record.ts';

/** What became of one delivery. */
export type IntakeOutcome =
  /** The first of its transition. */
  | 'new'
  /** A body that differs from those kept before. */
  | 'new_body'
  /** Kept before. */
  | 'known'
  /** Not kept, and counted: the transition has as many distinct bodies as are kept. */
  | 'full';

/**
 * Keeps a group of deliveries in a transaction, and says for each what became of it. First deliveries, the usual case, are
 * written together; so are repetitions. A body that was not kept before takes the lock of its transition.
 *
 * Everything is taken in the order of the transitions' ids and of the tables, so that two groups cannot wait for each other.
 */
export async function keepGroup<Tx>(
  statements: Statements<Tx>,
  records: readonly IntakeRecord[],
  tx: Tx,
): Promise<readonly IntakeOutcome[]> {
  const outcomes = new Map<IntakeRecord, IntakeOutcome>();
  const sorted = [...records].sort(byTransition);
  const firsts = sorted.filter((record, index) => sorted[index - 1]?.transitionId !== record.transitionId);
  const run = (name: string, rows: readonly object[]): Promise<readonly Row[]> =>
    rows.length === 0 ? Promise.resolve([]) : statements.run(name, [JSON.stringify(rows)], tx);
  const created = await run('keep_firsts', firsts);
  const news = new Set(created.map((row) => textOf(row, 'transition_id')));
  for (const record of firsts) if (news.has(record.transitionId)) outcomes.set(record, 'new');

  const others = sorted.filter((record) => !outcomes.has(record));
  const known = knownBodies(await run('find_known', others.map(keysOf)));
  const repeats = new Map<string, { id: number; digest: string; repeats: number }>();
  for (const record of others) {
    const id = known.ids.get(record.transitionId);
    const refusal = known.bodies.get(record.transitionId + record.digest);
    const isKnown = refusal !== undefined && (refusal === null || record.refusal !== null);
    if (id === undefined || !isKnown) continue;
    const repeat = repeats.get(record.transitionId + record.digest) ?? {
      id,
      digest: record.digest,
      repeats: 0,
    };
    repeat.repeats += 1;
    repeats.set(record.transitionId + record.digest, repeat);
    outcomes.set(record, 'known');
  }
  await run('count_deliveries', [...repeats.values()]);
  for (const record of others) {
    const id = known.ids.get(record.transitionId);
    if (id === undefined)
      throw new TypeError('A transition disappeared while a body was added. Was a table changed?');
    if (!outcomes.has(record)) outcomes.set(record, await addBody(statements, { record, id }, tx));
  }
  return records.map((record) => outcomes.get(record) ?? 'full');
}

/**
 * Keeps a made-up callback and its repetition in a transaction that is rolled back: nothing else tells whether the store
 * takes a callback. Its id is its own, so that it waits for no other.
 *
 * @throws What keeping a callback meets.
 */
export async function tryToKeep<Tx>(
  statements: Statements<Tx>,
  inTransaction: (body: (tx: Tx) => Promise<never>) => Promise<void>,
  account: string,
): Promise<void> {
  const undo = new Error('rolled back');
  const id = `check ${randomUUID()}`;
  const keys = { transitionId: id, account, referenceKey: id, subjectKey: id, digest: id };
  const claims = {
    requestCurrency: null,
    requestAmount: null,
    transactionCurrency: null,
    transactionAmount: null,
  };
  const rest = { signed: '{}', transactionType: '""', content: '', keyId: '', refusal: null };
  const made: IntakeRecord = { ...keys, ...claims, ...rest };
  const kept = inTransaction(async (tx) => {
    await keepGroup(statements, [made, { ...made }], tx);
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
  const rows = await statements.run('find_known', [JSON.stringify([keysOf(record)])], tx);
  const found = knownBodies(rows).bodies.get(record.transitionId + digest);
  const repeat = async (repeated: string): Promise<IntakeOutcome> => {
    await statements.run('count_deliveries', [JSON.stringify([{ id, digest: repeated, repeats: 1 }])], tx);
    return 'known';
  };
  // Another group was faster.
  if (found === null || (found !== undefined && refusal !== null)) return repeat(digest);
  const { bodies = [], expectation } = file?.evaluated ?? {};
  const count = refusal === null ? bodies.length : (file?.evidenceCount ?? 0);
  const isFull = count >= (refusal === null ? MAX_BODIES : MAX_EVIDENCE) && record.isAcknowledged !== true;
  if (found === undefined && isFull) {
    const claims = {
      request: { currency: record.requestCurrency, amount: record.requestAmount },
      transaction: { currency: record.transactionCurrency, amount: record.transactionAmount },
    };
    const isEqual = refusal === null && expectation !== undefined && equalsExpectation(claims, expectation);
    const equal = isEqual ? bodies.find((body) => equalsExpectation(body, expectation)) : undefined;
    if (equal !== undefined) return repeat(equal.digest);
    if (!isEqual) {
      await statements.run('count_refused_body', [id], tx);
      return 'full';
    }
  }
  await statements.run('keep_body', [JSON.stringify([bodyOf(record, id)])], tx);
  if (found !== undefined) await repeat(digest);
  const values: SqlValue[] = [id, found === undefined ? 1 : 0, refusal === null ? 1 : 0];
  await statements.run('count_body', values, tx);
  return 'new_body';
}

function keysOf({ transitionId, digest }: IntakeRecord): object {
  return { transitionId, digest };
}

function bodyOf(record: IntakeRecord, id: number | undefined): object {
  const { digest, content, requestCurrency, requestAmount, transactionCurrency, transactionAmount } = record;
  const { keyId, refusal } = record;
  return {
    id,
    digest,
    content,
    requestCurrency,
    requestAmount,
    transactionCurrency,
    transactionAmount,
    keyId,
    refusal,
  };
}

function knownBodies(rows: readonly Row[]): {
  readonly ids: ReadonlyMap<string, number>;
  /** By transition id and digest: the refusal of the body that is kept. */
  readonly bodies: ReadonlyMap<string, string | null>;
} {
  const ids = new Map<string, number>();
  const bodies = new Map<string, string | null>();
  for (const row of rows) {
    const transitionId = textOf(row, 'transition_id');
    ids.set(transitionId, numberOf(row, 'id'));
    if (row['digest'] !== null) {
      bodies.set(
        transitionId + textOf(row, 'digest'),
        row['refusal'] === null ? null : textOf(row, 'refusal'),
      );
    }
  }
  return { ids, bodies };
}

/** Hexadecimal digits sort in the same way here and in the database. */
function byTransition(one: IntakeRecord, other: IntakeRecord): number {
  const [first, second] = [one.transitionId + one.digest, other.transitionId + other.digest];
  return first < second ? -1 : first > second ? 1 : 0;
}

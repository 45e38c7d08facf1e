import { readCaseFile } from './case-file.ts';
import { equalsExpectation, type TransitionCase } from './evaluation.ts';
import type { IntakeRecord } from './intake-record.ts';
import { fromHex } from './session.ts';
import type { IntakeOutcome, StoreEngine } from './store.ts';

/**
 * Keeps a group of deliveries. A callback that the limit of bodies keeps out is judged by its amounts: a body that equals
 * the expectation is always admitted, so that forged ones do not crowd it out (threat A5, threat A34). One such body is
 * enough: later ones count as its deliveries, so that one signature cannot fill the disk.
 */
export async function receiveWithinLimit<Tx>(
  engine: StoreEngine<Tx>,
  records: readonly IntakeRecord[],
  account: string,
): Promise<readonly IntakeOutcome[]> {
  const outcomes = [...(await engine.receive(records, account))];
  const cases = new Map<string, TransitionCase>();
  const admitted = new Map<number, IntakeRecord>();
  for (const [index, record] of records.entries()) {
    const { transitionId, refusal } = record;
    if (outcomes[index] !== 'full' || refusal !== undefined) continue;
    const found = cases.get(transitionId) ?? (await readCase(engine, transitionId));
    cases.set(transitionId, found);
    const again = admit(record, found);
    if (again !== undefined) admitted.set(index, again);
  }
  if (admitted.size === 0) return outcomes;
  const second = await engine.receive([...admitted.values()], account);
  for (const [position, index] of [...admitted.keys()].entries()) {
    const outcome = second[position] ?? 'busy';
    // Another delivery has taken the place meanwhile: the next attempt sees its body.
    outcomes[index] = outcome === 'full' ? 'busy' : outcome;
  }
  return outcomes;
}

/** The delivery with its verdict; undefined when it is not admitted. */
function admit(record: IntakeRecord, { bodies, expectation }: TransitionCase): IntakeRecord | undefined {
  if (expectation === undefined || !equalsExpectation(record, expectation)) return undefined;
  const equal = bodies.find((body) => equalsExpectation(body, expectation));
  // Room for this one only: the verdict does not hold for a second delivery that was judged at the same moment.
  if (equal === undefined) return { ...record, maxBodies: bodies.length + 1 };
  return { ...record, digest: equal.digest };
}

async function readCase<Tx>(
  { briefSession, tables }: StoreEngine<Tx>,
  transitionId: string,
): Promise<TransitionCase> {
  return (await readCaseFile(briefSession, tables, fromHex(transitionId))).evaluated;
}

import type { Emit } from '../events.ts';
import type { StatementVerdict } from '../states.ts';
import { STATEMENT_VERDICTS, type StatementFinding, type StatementReport } from './statement.ts';

const VERDICTS = Object.keys(STATEMENT_VERDICTS) as StatementVerdict[];
const NONE = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<StatementVerdict, number>;
const MAX_SAMPLES = 20;

/** Counts the verdicts, and keeps the first findings of each. */
export class Tally {
  readonly counts: Record<StatementVerdict, number> = { ...NONE };
  readonly #samples = new Map<StatementVerdict, StatementFinding[]>();

  add(finding: StatementFinding): void {
    const { verdict } = finding;
    const samples = this.#samples.get(verdict) ?? [];
    if (this.counts[verdict]++ < MAX_SAMPLES) this.#samples.set(verdict, [...samples, finding]);
  }

  get samples(): StatementFinding[] {
    return [...this.#samples.values()].flat();
  }
}

/** What is left for an operator is also an event. */
export function reportOf(
  given: Omit<StatementReport, 'isClean' | 'counts' | 'samples'>,
  { counts, samples }: Tally,
  emit: Emit,
): StatementReport {
  const left = { ...counts, settled: 0, not_paid: 0 };
  if (!given.dryRun) left.paid_without_callback -= given.applied;
  const differing = VERDICTS.filter((verdict) => left[verdict] > 0);
  for (const verdict of differing) emit({ name: 'statement.differs', verdict, count: left[verdict] });
  return { ...given, isClean: differing.length === 0, counts, samples };
}

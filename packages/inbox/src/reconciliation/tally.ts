import { sumOfProducts } from '@payment-service/core/reconcile';
import type { Emit } from '../reporting/events.ts';
import {
  LINE_CLASSES,
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementReport,
  type StatementSum,
  VERDICTS,
  WORD_FIELDS,
  type WordField,
} from './statement-report.ts';

const MAX_SAMPLES = 20;
const MAX_WORDS = 50;

/** A value of each name. */
const byName = <Name extends string, T>(
  names: readonly Name[],
  startOf: (name: Name) => T,
): Record<Name, T> => Object.fromEntries(names.map((name) => [name, startOf(name)])) as Record<Name, T>;

type SumOf = keyof StatementReport['sums'];
const SUMS: readonly SumOf[] = ['in', 'out', 'not_understood', 'applied'];

/** Counts and sums of the lines of one statement. */
export class Tally {
  applied = 0;
  readonly #counts = byName(VERDICTS, () => 0);
  readonly #lines = byName(LINE_CLASSES, () => 0);
  readonly #samples = byName(VERDICTS, (): StatementFinding[] => []);
  readonly #words = byName(WORD_FIELDS, () => new Map<string, number>());
  readonly #sums = byName(SUMS, () => new Map<string, string>());

  /** @param lines How many lines of the file it takes. */
  add(finding: StatementFinding, lines: number): void {
    const { verdict } = finding;
    if (this.#counts[verdict]++ < MAX_SAMPLES) this.#samples[verdict].push(finding);
    const { is } = STATEMENT_VERDICTS[verdict];
    if (is !== undefined) this.#lines[is] += lines;
  }

  addWord(field: WordField, word: unknown): void {
    const words = this.#words[field];
    const shown = String(word).slice(0, 40);
    const known = words.get(shown);
    if (known !== undefined || words.size < MAX_WORDS) words.set(shown, (known ?? 0) + 1);
  }

  addMoney(to: SumOf, currency: string | undefined, amount: string | undefined): void {
    if (currency === undefined || amount === undefined) return;
    const addends = [this.#sums[to].get(currency) ?? '0', amount];
    this.#sums[to].set(currency, sumOfProducts(addends.map((addend) => [addend, 1])));
  }

  /** What is left for an operator is also an event. */
  report(dryRun: boolean, emit: Emit): StatementReport {
    const { applied } = this;
    const [counts, lines] = [this.#counts, this.#lines];
    const left = { ...counts };
    if (!dryRun) left.paid_without_callback -= applied;
    const differing = VERDICTS.filter((verdict) => left[verdict] > 0 && !STATEMENT_VERDICTS[verdict].isClean);
    for (const verdict of differing) emit({ name: 'statement.differs', verdict, count: left[verdict] });
    return {
      ...{ dryRun, applied, isClean: lines.payment > 0 && differing.length === 0, lines },
      sums: byName(SUMS, (of) => sorted(this.#sums[of])),
      words: byName(WORD_FIELDS, (field) => Object.fromEntries(this.#words[field])),
      counts,
      samples: VERDICTS.flatMap((verdict) => this.#samples[verdict]),
    };
  }
}

const sorted = (sums: ReadonlyMap<string, string>): StatementSum[] =>
  [...sums]
    .map(([currency, amount]) => ({ currency, amount }))
    .toSorted((one, other) => (one.currency < other.currency ? -1 : 1));

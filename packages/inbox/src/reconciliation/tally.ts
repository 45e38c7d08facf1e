import { sumOfProducts } from '@payment-service/core/reconcile';
import type { Emit } from '../events.ts';
import type { StatementVerdict } from '../states.ts';
import {
  LINE_CLASSES,
  type LineClass,
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementReport,
  type StatementSum,
} from './statement.ts';

const VERDICTS = Object.keys(STATEMENT_VERDICTS) as StatementVerdict[];
const MAX_SAMPLES = 20;
const MAX_WORDS = 50;

const zeros = <T extends string>(names: readonly T[]): Record<T, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<T, number>;

type SumOf = keyof StatementReport['sums'];

/** Counts and sums of the lines of one statement. */
export class Tally {
  readonly counts: Record<StatementVerdict, number> = zeros(VERDICTS);
  readonly lines: Record<LineClass, number> = zeros(LINE_CLASSES);
  readonly words: Map<string, number> = new Map<string, number>();
  applied = 0;
  readonly #samples = new Map<StatementVerdict, StatementFinding[]>();
  readonly #sums = new Map<SumOf, Map<string, string>>();

  /** @param lines How many lines of the file it takes. */
  add(finding: StatementFinding, lines: number): void {
    const { verdict } = finding;
    const samples = this.#samples.get(verdict) ?? [];
    if (this.counts[verdict]++ < MAX_SAMPLES) this.#samples.set(verdict, [...samples, finding]);
    const { is } = STATEMENT_VERDICTS[verdict];
    if (is !== undefined) this.lines[is] += lines;
  }

  addWord(word: string): void {
    const known = this.words.get(word);
    if (known !== undefined || this.words.size < MAX_WORDS) this.words.set(word, (known ?? 0) + 1);
  }

  addMoney(to: SumOf, currency: string | undefined, amount: string | undefined): void {
    if (currency === undefined || amount === undefined) return;
    const sums = this.#sums.get(to) ?? new Map<string, string>();
    this.#sums.set(
      to,
      sums.set(
        currency,
        sumOfProducts([
          [sums.get(currency) ?? '0', 1],
          [amount, 1],
        ]),
      ),
    );
  }

  #sumsOf(of: SumOf): StatementSum[] {
    return [...(this.#sums.get(of) ?? [])]
      .map(([currency, amount]) => ({ currency, amount }))
      .toSorted(byCurrency);
  }

  /** What is left for an operator is also an event. */
  report(dryRun: boolean, emit: Emit): StatementReport {
    const { counts, lines, words, applied } = this;
    const left = { ...counts };
    if (!dryRun) left.paid_without_callback -= applied;
    const differing = VERDICTS.filter((verdict) => left[verdict] > 0 && !STATEMENT_VERDICTS[verdict].isClean);
    for (const verdict of differing) emit({ name: 'statement.differs', verdict, count: left[verdict] });
    const sums = {
      in: this.#sumsOf('in'),
      out: this.#sumsOf('out'),
      not_understood: this.#sumsOf('not_understood'),
      applied: this.#sumsOf('applied'),
    };
    return {
      ...{ dryRun, applied, isClean: lines.payment > 0 && differing.length === 0 },
      ...{ lines, sums, words: Object.fromEntries(words), counts },
      samples: VERDICTS.flatMap((verdict) => this.#samples.get(verdict) ?? []),
    };
  }
}

const byCurrency = (one: StatementSum, other: StatementSum): number =>
  one.currency < other.currency ? -1 : 1;

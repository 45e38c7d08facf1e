/**
 * `pnpm lab fuzz [--count N] [--seed N] [--short] [--report path]`: core's verifier and a second one judge the same callbacks and
 * redirects, most of them one edit away from a genuine one, and must agree on every verdict. 10 million inputs by default. Needs
 * Python. A run is void, and fails, unless every naive verifier is caught.
 */
import { setImmediate } from 'node:timers/promises';
import { readFlags, runProgram, stopped } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { figure, type Table } from '@payment-service/durability/measure/tables.ts';
import fc from 'fast-check';
import { batches } from './inputs.ts';
import { catchNaive } from './naive-verifiers.ts';
import { type Core, core, FAULTS, faultOf, type Options, secondVerdicts } from './verifiers.ts';

/** As many as 20,000 inputs. */
const BATCHES = 200;
const MAX_FAILURES = 20;

export interface Counts {
  inputs: number;
  accepted: number;
  /** Refused inputs that are one edit away from an accepted one. */
  near: number;
  /** By code, and by fault. */
  readonly verdicts: Record<string, number>;
  readonly faults: Record<string, number>;
  /** The shortest one first, each as a batch of one input, which the second verifier reads. */
  readonly failures: string[];
}

/** Judges part after part, until there are enough inputs. The seed of a part alone determines its inputs. */
export async function runFuzz(
  seed: number,
  count: number,
  verifier: (options: Options) => Core = core,
): Promise<Counts> {
  const counts: Counts = { inputs: 0, accepted: 0, near: 0, verdicts: {}, faults: {}, failures: [] };
  for (
    let part = 0;
    counts.inputs < count && !stopped.aborted && counts.failures.length < MAX_FAILURES;
    part++
  ) {
    const sample = fc.sample(batches, { seed: Math.imul(seed, 0x9e3779b1) ^ part, numRuns: BATCHES });
    const verdicts = secondVerdicts(sample);
    for (const [index, { options, inputs, near }] of sample.entries()) {
      const own = verifier(options);
      const [first] = verdicts[index] ?? [];
      for (const [at, input] of inputs.entries()) {
        const right = verdicts[index]?.[at];
        if (right === undefined) throw new Error('The second verifier left an input out.');
        const fault = faultOf(own, input, right);
        counts.inputs++;
        if (right[0] === 'ok') counts.accepted++;
        else if (at <= near && first?.[0] === 'ok') counts.near++;
        add(counts.verdicts, right[0]);
        if (fault === undefined) continue;
        add(counts.faults, fault);
        counts.failures.push(JSON.stringify({ options, inputs: [input], fault, right }));
      }
    }
    if (part % 20 === 19)
      console.log(`  ${figure(counts.inputs)} inputs, ${counts.failures.length} failures`);
    await setImmediate();
  }
  counts.failures.sort((one, other) => one.length - other.length).splice(MAX_FAILURES);
  return counts;
}

function add(counted: Record<string, number>, name: string): void {
  counted[name] = (counted[name] ?? 0) + 1;
}

export default async function (): Promise<void> {
  const flags = readFlags({ count: 0, seed: 1, short: false });
  const { seed, short: isShort } = flags;
  const count = flags.count || (isShort ? 100_000 : 10_000_000);
  await runProgram({ name: 'fuzz', isShort, report: flags.report }, async () => {
    // The control is first: if it fails, nothing that follows counts. With fewer inputs, it would miss rare faults.
    const caught = catchNaive(fc.sample(batches, { seed, numRuns: 300 }));
    const { failures, ...counts } = await runFuzz(seed, count);
    for (const failure of failures) console.log(failure);
    const { inputs, accepted, near, faults, verdicts } = counts;
    const none = (name: string, unit: string, found: number): Result =>
      judge(name, unit, found, 'exactly', 0);
    const missed = caught.filter(({ falseAccepts }) => falseAccepts === 0).length;
    const results = [
      judge('inputs', 'inputs', inputs, 'at least', count),
      judge('accepted, or one edit from it', '%', (100 * (accepted + near)) / inputs, 'at least', 30),
      told('accepted', '%', (100 * accepted) / inputs),
      ...FAULTS.map((fault) => none(fault, 'inputs', faults[fault] ?? 0)),
      none('naive verifiers that were not caught', 'verifiers', missed),
    ];
    const table = (title: string, head: string, rows: readonly [string, number][]): Table => ({
      title,
      head: [title, head, ''],
      rows: rows.map(([name, often]) => [name, figure(often), '']),
    });
    const tables = [
      table('Verdicts', 'inputs', Object.entries(verdicts)),
      table(
        'Controls: naive verifiers',
        'false accepts',
        caught.map((one) => [one.name, one.falseAccepts]),
      ),
    ];
    return { results, tables, seed, failures };
  });
}

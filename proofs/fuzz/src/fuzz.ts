/**
 * `pnpm lab fuzz [--count N] [--seed N] [--short] [--report path]`: core's verifier and a second one judge the same callbacks and
 * redirects, most of them one edit away from a genuine one, and must agree on every verdict. 10 million inputs by default. Needs
 * Python. A run is void, and fails, unless every naive verifier is caught.
 */
import { setImmediate } from 'node:timers/promises';
import { runBenchmark, stopped } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { figure } from '@payment-service/durability/measure/tables.ts';
import fc from 'fast-check';
import { batches } from './inputs.ts';
import { catchNaive } from './naive-verifiers.ts';
import { type Core, core, FAULTS, type Fault, faultOf, type Options, secondVerdicts } from './verifiers.ts';

/** As many as 20,000 inputs. */
const BATCHES = 200;
const MAX_FAILURES = 20;

export interface Counts {
  inputs: number;
  accepted: number;
  /** Refused inputs that are one edit away from an accepted one. */
  near: number;
  readonly faults: Partial<Record<Fault, number>>;
  /** The shortest one first, each as a batch of one input, which the second verifier reads. */
  readonly failures: string[];
}

/** Judges part after part, until there are enough inputs. The seed of a part alone determines its inputs. */
export async function runFuzz(
  seed: number,
  count: number,
  verifier: (options: Options) => Core = core,
): Promise<Counts> {
  const counts: Counts = { inputs: 0, accepted: 0, near: 0, faults: {}, failures: [] };
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
        if (right === undefined) throw new Error('The second verifier skipped an input.');
        const fault = faultOf(own, input, right);
        counts.inputs++;
        if (right[0] === 'ok') counts.accepted++;
        else if (at <= near && first?.[0] === 'ok') counts.near++;
        if (fault === undefined) continue;
        counts.faults[fault] = (counts.faults[fault] ?? 0) + 1;
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

export default function (): Promise<void> {
  const paces = { full: { count: 10_000_000, seed: 1 }, short: { count: 100_000, seed: 1 } };
  return runBenchmark('fuzz', paces, async ({ count, seed }) => {
    // The control is first: if it fails, nothing that follows counts. With fewer inputs, it would miss rare faults.
    const caught = catchNaive(fc.sample(batches, { seed, numRuns: 300 }));
    const { inputs, accepted, near, faults, failures } = await runFuzz(seed, count);
    for (const failure of failures) console.log(failure);
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
    const table = {
      title: 'Controls: naive verifiers',
      head: ['', 'false accepts', ''],
      rows: caught.map(({ name, falseAccepts }) => [name, figure(falseAccepts), '']),
    };
    return { results, tables: [table], failures };
  });
}

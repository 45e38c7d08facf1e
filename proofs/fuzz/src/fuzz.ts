/**
 * `pnpm lab fuzz [--count N] [--seed N] [--short] [--long] [--minutes N] [--state path] [--replay path] [--report path]`:
 * core's verifier and a second one judge the same callbacks and redirects, most of them one edit away from a genuine one, and
 * must agree on every verdict. 10 million inputs by default, a billion with --long.
 *
 * With --long the run saves its position in reports/fuzz-state.json (or the file of --state): after Ctrl-C, or after --minutes,
 * the same command resumes there. It also judges the signature vectors on Bun, Deno and workerd, which npm installs into a
 * temporary folder. --replay judges one vector or failure, as printed by a run. A run is void, and fails, unless every naive
 * verifier is caught.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFlags, runProgram } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { figure, type Table } from '@payment-service/durability/measure/tables.ts';
import fc from 'fast-check';
import { batches } from './batch.ts';
import { countShared, type Injectivity } from './injective.ts';
import { type Caught, catchNaive } from './naive-verifiers.ts';
import { compareWithPython } from './python.ts';
import { type Counts, runFuzz } from './run-fuzz.ts';
import { judgeOnRuntimes } from './runtimes.ts';
import { FAULTS, faultOf, fromVector, secondVerdict, subject, subjects, type Vector } from './subject.ts';

export default async function (): Promise<void> {
  const flags = readFlags({
    ...{ count: 0, seed: 1, minutes: 0, state: '', replay: '' },
    ...{ short: false, long: false },
  });

  if (flags.replay !== '') return replay(flags.replay);
  const { long: isLong, short: isShort, minutes, seed } = flags;
  const count = flags.count || (isShort ? 100_000 : isLong ? 1_000_000_000 : 10_000_000);
  const until = minutes === 0 ? Infinity : Date.now() + minutes * 60_000;
  const reports = join(import.meta.dirname, '../../../reports');
  const state = flags.state || (isLong ? join(reports, 'fuzz-state.json') : undefined);
  if (state !== undefined) await mkdir(dirname(state), { recursive: true });
  await runProgram({ name: 'fuzz', isShort, report: flags.report }, async () => {
    const all = subjects();
    // The control is first: if it fails, nothing that follows counts. With fewer inputs, it would miss rare faults.
    const sample = fc.sample(batches(all), { seed, numRuns: isLong ? 2000 : 300 });
    const caught = catchNaive(sample);
    const python = compareWithPython(sample);
    if (typeof python === 'string') console.log(`Not compared with the verifier in Python: ${python}`);
    const runtimes = isLong ? await judgeOnRuntimes() : [];
    const injectivity = isLong ? countShared('ab:', 2) : countShared('a:', isShort ? 1 : 2);
    const { counts, failures, cpuMs } = await runFuzz(all, { seed, count, until, state });
    for (const failure of failures) console.log(failure);
    const figures = { counts, caught, python, runtimes, injectivity };
    const { inputs, accepted, near, faults } = counts;
    const missed = caught.filter(({ falseAccepts, falseRefusals }) => falseAccepts + falseRefusals === 0);
    const [control] = injectivity.slice(-1);
    const rules = injectivity.slice(0, -1);
    const shared = rules.reduce((sum, rule) => sum + rule.shared, 0);
    const silent = rules.filter((rule) => rule.accepted === 0).length;
    const none = (name: string, unit: string, found: number): Result =>
      judge(name, unit, found, 'exactly', 0);
    const results = [
      // A run of limited time may end earlier.
      judge('inputs', 'inputs', inputs, 'at least', minutes === 0 ? count : 1),
      judge('accepted, or one edit from it', '%', (100 * (accepted + near)) / inputs, 'at least', 30),
      told('accepted', '%', (100 * accepted) / inputs),
      ...FAULTS.map((fault) => none(fault, 'inputs', faults[fault])),
      none('naive verifiers that were not caught', 'verifiers', missed.length),
      ...(typeof python === 'string'
        ? []
        : [
            told('judged in Python as well', 'inputs', python.inputs),
            none('differences between the two second verifiers', 'inputs', python.differences.length),
          ]),
      ...runtimes.map(({ name, wrong }) =>
        none(`vectors with another verdict: ${name}`, 'vectors', wrong.length),
      ),
      none('signed strings that are accepted in two readings', 'strings', shared),
      none('rules that accept nothing', 'rules', silent),
      judge('control without a rule: strings with two readings', 'strings', control?.shared ?? 0, 'above', 0),
      told('processor time of an input, judged twice', 'µs', (1000 * cpuMs) / inputs),
    ];
    return { results, tables: fuzzTables(counts, caught, injectivity), seed, failures, cpuMs, ...figures };
  });
}

/** Shows both verdicts on one vector, or on that of a failure. */
async function replay(path: string): Promise<void> {
  const given = JSON.parse(await readFile(path, 'utf8'));
  const vector: Vector = given.vector ?? given;
  const one = subject(vector.options);
  const input = fromVector(vector);
  const right = secondVerdict(one, input);
  const fault = faultOf(one, input, right);
  console.log(
    `The second verifier says ${right.code}; core ${fault === undefined ? 'agrees' : `differs: ${fault}`}.`,
  );
  process.exitCode = fault === undefined ? 0 : 1;
}

function fuzzTables(
  counts: Counts,
  caught: readonly Caught[],
  injectivity: readonly Injectivity[],
): readonly Table[] {
  const verdicts = Object.entries(counts.verdicts).sort(([, a], [, b]) => b - a);
  return [
    {
      title: 'Verdicts',
      head: ['verdict', 'inputs', 'share'],
      rows: verdicts.map(([code, often]) => {
        return [code, figure(often), `${((100 * often) / counts.inputs).toFixed(2)} %`];
      }),
    },
    {
      title: 'Controls: naive verifiers',
      head: ['verifier', 'false accepts', 'false refusals', ''],
      rows: caught.map((one) => [one.name, String(one.falseAccepts), String(one.falseRefusals), '']),
    },
    {
      title: 'Readings of signed strings',
      head: ['rule', 'readings', 'accepted', 'strings with two', ''],
      rows: injectivity.map(({ rule, ...counted }) => [rule, ...Object.values(counted).map(String), '']),
    },
  ];
}

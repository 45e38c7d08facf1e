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
import { countShared, type Injectivity, judgeInjectivity } from './injective.ts';
import { type Caught, catchNaive } from './naive-verifiers.ts';
import { type Comparison, compareWithPython } from './python.ts';
import { type Counts, runFuzz } from './run-fuzz.ts';
import { judgeOnRuntimes, type OnRuntime } from './runtimes.ts';
import {
  FAULTS,
  type Fault,
  faultOf,
  fromVector,
  secondVerdict,
  subject,
  subjects,
  type Vector,
} from './subject.ts';

/** All findings of a run. */
export interface Fuzzed {
  readonly counts: Counts;
  /** Undefined if a run of limited time may end earlier. */
  readonly wanted: number | undefined;
  readonly cpuMs: number;
  readonly caught: readonly Caught[];
  /** A sentence if Python is missing. */
  readonly python: Comparison | string;
  /** Only with --long. */
  readonly runtimes: readonly OnRuntime[];
  readonly injectivity: readonly Injectivity[];
}

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
    const wanted = minutes === 0 ? count : undefined;
    const fuzzed = { counts, wanted, cpuMs, caught, python, runtimes, injectivity };
    return { results: judgeFuzz(fuzzed), tables: fuzzTables(fuzzed), seed, failures, ...fuzzed };
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

export function judgeFuzz(fuzzed: Fuzzed): readonly Result[] {
  const { counts, wanted, cpuMs, caught, python, runtimes, injectivity } = fuzzed;
  const { inputs, accepted, near, faults } = counts;
  const missed = caught.filter(({ falseAccepts, falseRefusals }) => falseAccepts + falseRefusals === 0);
  const wrong = runtimes.flatMap(({ name, wrong }) => wrong.map((one) => `${name}: ${one}`));
  const none = (name: string, unit: string, count: number): Result => judge(name, unit, count, 'exactly', 0);
  return [
    wanted === undefined
      ? told('inputs', 'inputs', inputs)
      : judge('inputs', 'inputs', inputs, 'at least', wanted),
    judge('accepted, or one edit from it', '%', (100 * (accepted + near)) / inputs, 'at least', 30),
    told('accepted', '%', (100 * accepted) / inputs),
    ...Object.entries(FAULTS).map(([fault, name]) => none(name, 'inputs', faults[fault as Fault])),
    none('naive verifiers that were not caught', 'verifiers', missed.length),
    ...(typeof python === 'string'
      ? []
      : [
          told('judged in Python as well', 'inputs', python.inputs),
          none('differences between the two second verifiers', 'inputs', python.differences.length),
        ]),
    ...(runtimes.length === 0
      ? []
      : [none('vectors with another verdict on a runtime', 'vectors', wrong.length)]),
    ...judgeInjectivity(injectivity),
    told('processor time of an input, judged twice', 'µs', (1000 * cpuMs) / inputs),
  ];
}

function fuzzTables({ counts, caught, runtimes, injectivity }: Fuzzed): readonly Table[] {
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
      title: 'Signature vectors on other runtimes, with --long',
      head: ['runtime', 'vectors', 'other verdicts'],
      rows: runtimes.map(({ name, count, wrong }) => [name, String(count), wrong.join('; ') || '0']),
    },
    {
      title: 'Readings of signed strings',
      head: ['rule', 'readings', 'accepted', 'strings with two', ''],
      rows: injectivity.map(({ rule, ...counted }) => [rule, ...Object.values(counted).map(String), '']),
    },
  ];
}

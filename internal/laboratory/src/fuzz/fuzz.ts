/**
 * `pnpm lab fuzz [--count N] [--seed N] [--short] [--long] [--minutes N] [--state path] [--replay path] [--report path]`: core's
 * verifier and a second one judge the same callbacks and redirects, most of which are one edit from a genuine one, and must agree
 * on every verdict. 10 million inputs by default, a billion with --long.
 *
 * With --long the run keeps its place in reports/fuzz-state.json (another file with --state): after Ctrl-C, or after --minutes,
 * the same command goes on from there. It also repeats a sample on Bun, Deno and workerd, which npm installs into a temporary
 * folder. --replay judges one vector or failure, as a run has printed it. The run is void, and fails, unless every naive verifier
 * is caught.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFlags, runProgram } from '../measure/program.ts';
import { countShared } from './injective.ts';
import { fuzzTables, judgeFuzz } from './judge-fuzz.ts';
import { catchNaive } from './naive-verifiers.ts';
import { subjects } from './originals.ts';
import { compareWithPython } from './python.ts';
import { runFuzz } from './run-fuzz.ts';
import { sampleRuntimes } from './runtimes.ts';
import { checkStructures } from './structure.ts';
import { faultOf, fromVector, secondVerdict, subject } from './subject.ts';

const flags = readFlags({
  ...{ count: 0, seed: 1, minutes: 0, state: '', replay: '' },
  ...{ short: false, long: false },
});

if (flags.replay !== '') await replay(flags.replay);
else {
  const { long: isLong, short: isShort, minutes, seed } = flags;
  const count = flags.count || (isShort ? 100_000 : isLong ? 1_000_000_000 : 10_000_000);
  const until = minutes === 0 ? Infinity : Date.now() + minutes * 60_000;
  const reports = join(import.meta.dirname, '../../../../reports');
  const state = flags.state || (isLong ? join(reports, 'fuzz-state.json') : undefined);
  if (state !== undefined) await mkdir(dirname(state), { recursive: true });
  await runProgram({ name: 'fuzz', isShort, report: flags.report }, async () => {
    const all = subjects();
    const partOf = (share: number, most: number): number => Math.min(Math.ceil(count / share), most);
    // The control is first: without it, nothing that follows counts. With fewer, it would miss what is rare.
    const caught = catchNaive(all, seed, Math.max(partOf(100, 100_000), 10_000));
    const structures = checkStructures(all, seed, Math.max(partOf(500, 20_000), 2000));
    const python = compareWithPython(all, seed, isLong ? 200_000 : partOf(500, 20_000));
    if (typeof python === 'string') console.log(`Not compared with the verifier in Python: ${python}`);
    const runtimes = await sampleRuntimes(seed, isLong ? 2_000 : partOf(25_000, 400), isLong);
    const injectivity = isLong ? [...countShared('ab:', 2)] : countShared('a:', isShort ? 1 : 2);
    const { counts, failures, cpuMs } = await runFuzz(all, { seed, count, until, state });
    for (const failure of failures) console.log(failure);
    const wanted = minutes === 0 ? count : undefined;
    const fuzzed = { counts, wanted, cpuMs, caught, structures, python, runtimes, injectivity };
    return { results: judgeFuzz(fuzzed), tables: fuzzTables(fuzzed), seed, failures, ...fuzzed };
  });
}

/** Shows both verdicts on one vector, or on the one of a failure. */
async function replay(path: string): Promise<void> {
  const given = JSON.parse(await readFile(path, 'utf8'));
  const { options, input } = fromVector(given.vector ?? given);
  const one = subject(options);
  const right = secondVerdict(one, input);
  const fault = faultOf(one.core, input, right);
  console.log(
    `The second verifier says ${right.code}; core ${fault === undefined ? 'agrees' : `differs: ${fault}`}.`,
  );
  process.exitCode = fault === undefined ? 0 : 1;
}

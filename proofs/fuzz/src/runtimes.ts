import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeFolder } from '@payment-service/durability/measure/program.ts';
import { rolldown } from 'rolldown';
import type { Counts } from './count.ts';
import { sample } from './sample-process.ts';

/** One sample on another digest or runtime, compared with the same one here. */
export interface RuntimeSample {
  readonly name: string;
  readonly inputs: number;
  /** Faults there, by the second verifier there. */
  readonly faults: number;
  /** Whether each verdict was given as often as here, since the inputs are the same. */
  readonly isSame: boolean;
}

const WORKER = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "sample", worker = .sample)]);
const sample :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "portable.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [(name = "SAMPLE", text = "SEED BATCHES")],
);
`;

/**
 * Runs the same batches on the portable digest and, with `isLong`, on Bun, Deno and workerd, which npm installs into a
 * temporary folder.
 */
export async function sampleRuntimes(
  seed: number,
  batches: number,
  isLong: boolean,
): Promise<readonly RuntimeSample[]> {
  const folder = await makeFolder();
  await bundle('node', /digest\.node\.ts$/, join(folder, 'node.mjs'));
  await bundle('browser', /digest\.portable\.ts$/, join(folder, 'portable.mjs'));
  const here = sample(seed, batches);
  const given = [String(seed), String(batches)];
  const run = (name: string, command: string, args: readonly string[]): RuntimeSample => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`The sample failed on ${name}: ${error ?? stderr}`);
    const line = stdout.split('\n').find((one) => one.startsWith('{')) ?? '{}';
    const { inputs, faults, verdicts } = JSON.parse(line) as Counts;
    const sum = Object.values(faults).reduce((all, count) => all + count, 0);
    return { name, inputs, faults: sum, isSame: isDeepStrictEqual(verdicts, here.verdicts) };
  };
  const samples = [run('Node, the portable digest', process.execPath, ['portable.mjs', ...given])];
  if (!isLong) return samples;
  const install = ['install', '--no-audit', '--no-fund', '--prefix', folder, 'bun@^1', 'deno@^2', 'workerd'];
  const installed = spawnSync('npm', install, { cwd: folder, encoding: 'utf8' });
  if (installed.status !== 0) throw new Error(`npm could not install the runtimes: ${installed.stderr}`);
  const bin = (name: string): string => join(folder, 'node_modules', '.bin', name);
  const version = (name: string): string =>
    spawnSync(bin(name), ['--version'], { encoding: 'utf8' }).stdout.split('\n', 1)[0] ?? name;
  await writeFile(
    join(folder, 'sample.capnp'),
    WORKER.replace('SEED', String(seed)).replace('BATCHES', String(batches)),
  );
  samples.push(
    run(`Bun ${version('bun')}`, bin('bun'), ['node.mjs', ...given]),
    run(version('deno'), bin('deno'), ['run', '--no-prompt', 'node.mjs', ...given]),
    run(version('workerd'), bin('workerd'), ['test', 'sample.capnp']),
  );
  return samples;
}

/** @param digest the file that the platform's import condition must have chosen. */
async function bundle(platform: 'node' | 'browser', digest: RegExp, file: string): Promise<void> {
  const input = join(import.meta.dirname, 'sample-process.ts');
  const build = await rolldown({ input, platform, external: isBuiltin });
  const { output } = await build.write({ file, format: 'esm', codeSplitting: false });
  if (!output[0].moduleIds.some((id) => digest.test(id)))
    throw new Error(`${platform}: ${digest} was not bundled.`);
}

import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { makeFolder } from '@payment-service/durability/measure/program.ts';
import { rolldown } from 'rolldown';

/** The vectors on one runtime. */
interface OnRuntime {
  readonly name: string;
  /** Those with another verdict. */
  readonly wrong: readonly string[];
}

const WORKER = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "vectors", worker = .vectors)]);
const vectors :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "portable.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
);
`;

/** Judges every vector on Bun, Deno and workerd, which npm installs into a temporary folder. workerd has the portable digest. */
export async function judgeOnRuntimes(): Promise<readonly OnRuntime[]> {
  const folder = await makeFolder();
  await bundle('node', /digest\.node\.ts$/, join(folder, 'node.mjs'));
  await bundle('browser', /digest\.portable\.ts$/, join(folder, 'portable.mjs'));
  await writeFile(join(folder, 'start.mjs'), "import worker from './node.mjs';\nworker.test();\n");
  await writeFile(join(folder, 'vectors.capnp'), WORKER);
  const run = (command: string, args: readonly string[]): string => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error ?? stderr}`);
    return stdout;
  };
  run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, 'bun@^1', 'deno@^2', 'workerd']);
  return [
    ['bun', 'start.mjs'],
    ['deno', 'run', '--no-prompt', 'start.mjs'],
    ['workerd', 'test', 'vectors.capnp'],
  ].map(([name = '', ...args]) => {
    const program = join(folder, 'node_modules', '.bin', name);
    const line =
      run(program, args)
        .split('\n')
        .find((one) => one.startsWith('{')) ?? '{}';
    const [version = ''] = run(program, ['--version']).split('\n');
    return { name: `${name} ${version.replace(`${name} `, '')}`, ...JSON.parse(line) };
  });
}

/** @param digest the file that the platform's import condition must have chosen. */
async function bundle(platform: 'node' | 'browser', digest: RegExp, file: string): Promise<void> {
  const input = join(import.meta.dirname, 'vectors-process.ts');
  // The `main` of jsonc-parser cannot be bundled.
  const resolve = { mainFields: ['module', 'main'] };
  const build = await rolldown({ input, platform, resolve, external: isBuiltin });
  const { output } = await build.write({ file, format: 'esm', codeSplitting: false });
  if (!output[0].moduleIds.some((id) => digest.test(id)))
    throw new Error(`${platform}: ${digest} was not bundled.`);
}

/** What a package costs a program to import, bundle and install. */
import { execFile } from 'node:child_process';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { interleave, spread } from '@payment-service/durability';
import { build } from 'esbuild';

/** What is imported or bundled. The name that the import must provide is the control that it was loaded. */
export interface Entry {
  readonly name: string;
  readonly specifier: string;
  readonly exported: string;
}

/**
 * Processor time to the end of a program that imports the entry, in milliseconds; a busy neighbour does not change it.
 *
 * @throws {Error} if the module does not load, or lacks the expected export.
 */
export async function start(project: string, entry: Entry | undefined): Promise<number> {
  const load =
    entry === undefined
      ? ''
      : `import * as loaded from '${entry.specifier}'; if (!('${entry.exported}' in loaded)) process.exit(1);`;
  const tell = `import { writeSync } from 'node:fs'; writeSync(1, JSON.stringify(process.cpuUsage()));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', load + tell],
    // A cold import also compiles what it loads.
    { cwd: project, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } },
  ).catch((cause: unknown) => {
    throw new Error(`${entry?.specifier} did not load, or has no ${entry?.exported}.`, { cause });
  });
  const { user, system }: NodeJS.CpuUsage = JSON.parse(stdout);
  return (user + system) / 1000;
}

/** The cost of each import beyond Node's own start, by the name of the entry: medians over a number of interleaved starts. */
export async function importCosts(
  project: string,
  entries: readonly Entry[],
  starts: number,
): Promise<ReadonlyMap<string, number>> {
  const times = await interleave([undefined, ...entries], starts, Math.random, (entry) =>
    start(project, entry),
  );
  const median = (entry: Entry | undefined): number => spread(times.get(entry) ?? []).median;
  return new Map(entries.map((entry) => [entry.name, median(entry) - median(undefined)]));
}

export interface Bundle {
  readonly bytes: number;
  readonly gzipped: number;
}

export async function bundle(project: string, entry: Entry): Promise<Bundle> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${entry.exported} } from '${entry.specifier}';`, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'node',
    write: false,
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (file === undefined || !file.text.includes(entry.exported))
    throw new Error(`The bundle of ${entry.name} does not export ${entry.exported}.`);
  const gzipped = await promisify(gzip)(file.contents, { level: 9 });
  return { bytes: file.contents.length, gzipped: gzipped.length };
}

/** A package and all its dependencies, as they are on disk. */
export async function installed(
  project: string,
  name: string,
): Promise<{ readonly packages: number; readonly bytes: number }> {
  const homes = new Set<string>();
  await addPackage(join(project, 'package.json'), name, homes);
  const sizes = await Promise.all([...homes].map(folderBytes));
  return { packages: homes.size, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Adds the folders of a package and of all its dependencies. */
async function addPackage(from: string, name: string, homes: Set<string>): Promise<void> {
  const found = findPackageJSON(name, from);
  if (found === undefined) throw new Error(`${from} depends on ${name}, which is not installed.`);
  const home = await realpath(dirname(found));
  if (homes.has(home)) return;
  homes.add(home);
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    await readFile(join(home, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys(manifest.dependencies ?? {}))
    await addPackage(join(home, 'package.json'), dependency, homes);
}

async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) =>
      entry.isFile() && !join(entry.parentPath, entry.name).slice(folder.length).includes('/node_modules/'),
  );
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

import { globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unpack } from '@publint/pack';
import { run } from './run.ts';

/** The root of this repository. */
export const root: string = join(import.meta.dirname, '../../../..');

/** A published package of this repository, or of a copy of it. `folder` is absolute. */
export interface Published {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
}

/** The published packages, by name. */
export function publishedPackages(repository: string = root): readonly Published[] {
  return globSync('packages/*/package.json', { cwd: repository })
    .sort()
    .map((path) => {
      const manifest = readManifest<Published & { private?: boolean }>(join(repository, path));
      return { ...manifest, folder: join(repository, dirname(path)) };
    })
    .filter((one) => one.private !== true);
}

export function readManifest<Manifest>(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

/**
 * Runs the pnpm that started this process.
 *
 * @returns what it wrote to stdout.
 * @throws {Error} with its output if it fails, or if no pnpm started this process.
 */
export async function pnpm(cwd: string, ...args: readonly string[]): Promise<string> {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start this through pnpm, such as `npx -y pnpm@12.21.0 rehearse`.');
  return run({
    command: process.execPath,
    args: [join(import.meta.dirname, '../../pnpm.mjs'), ...args],
    cwd,
  });
}

/** The parts of a packed package.json that matter here. */
export interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface PackedFile {
  /** The path inside the package, such as `dist/index.js`. */
  readonly name: string;
  readonly data: Uint8Array;
}

/** One tarball as a registry would receive it, and its contents. */
export interface PackedPackage {
  readonly manifest: PackedManifest;
  readonly files: readonly PackedFile[];
  /** The size of the tarball. */
  readonly bytes: number;
}

/**
 * Packs a built package with `pnpm pack`, which applies `publishConfig`; `npm pack` does not.
 *
 * @throws {Error} if the package is not built.
 */
export async function packPackage(folder: string, destination: string): Promise<PackedPackage> {
  // Scripts such as `prepack` may print before the result.
  const output = await pnpm(folder, 'pack', '--json', '--pack-destination', destination);
  const { filename }: { filename: string } = JSON.parse(output.slice(output.indexOf('{\n')));
  return readTarball(filename);
}

/** The tarballs of a folder, unpacked in memory. */
export function readTarballs(folder: string): Promise<readonly PackedPackage[]> {
  const paths = globSync('*.tgz', { cwd: folder }).sort();
  return Promise.all(paths.map((path) => readTarball(join(folder, path))));
}

async function readTarball(path: string): Promise<PackedPackage> {
  const tarball = await readFile(path);
  const { files: packed, rootDir } = await unpack(new Uint8Array(tarball).buffer);
  const files = packed.map(({ name, data }) => ({ name: name.slice(rootDir.length + 1), data }));
  const manifest = files.find(({ name }) => name === 'package.json');
  if (manifest === undefined) throw new Error(`${path} holds no package.json`);
  return { manifest: JSON.parse(textOf(manifest)), files, bytes: tarball.length };
}

export function textOf({ data }: PackedFile): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(data);
}

/** The same package with a different package.json. */
export function withManifest(packed: PackedPackage, edit: (text: string) => string): PackedPackage {
  const files = packed.files.map((file) =>
    file.name === 'package.json' ? { ...file, data: new TextEncoder().encode(edit(textOf(file))) } : file,
  );
  return { ...packed, files };
}

/** A third-party package of this workspace: its name, and a folder that depends on it. */
export type Installed = readonly [name: string, by: string];

/**
 * Lays out the packages as a package manager would: their files from the tarballs, their dependencies only next to their own
 * code, so that an undeclared dependency is not found. Third-party packages are links to the versions of this workspace.
 *
 * @param project The folder of the program that uses the packages.
 * @param direct The other dependencies of that program.
 */
export async function installPacked(
  packages: readonly PackedPackage[],
  project: string,
  direct: readonly Installed[],
): Promise<void> {
  const sources = new Map(publishedPackages().map(({ name, folder }) => [name, folder]));
  for (const { manifest, files } of packages) {
    const home = join(project, 'node_modules', manifest.name);
    for (const { name, data } of files) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), data);
    }
    const others = Object.keys(manifest.dependencies ?? {}).filter((name) => !sources.has(name));
    for (const name of others) await link([name, sources.get(manifest.name) ?? ''], home);
  }
  for (const installed of direct) await link(installed, project);
}

async function link([name, by]: Installed, into: string): Promise<void> {
  const path = join(into, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(await realpath(join(by, 'node_modules', name)), path, 'junction');
}

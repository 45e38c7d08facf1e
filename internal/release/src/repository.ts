import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from './run.ts';

/** A published package of a copy of this repository. `folder` is absolute. */
export interface Published {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
}

export const root: string = join(import.meta.dirname, '../../..');

/**
 * Runs the pnpm that started this process.
 *
 * @returns what it wrote to stdout.
 * @throws {Error} with its output if it fails, or if no pnpm started this process.
 */
export async function pnpm(cwd: string, ...args: readonly string[]): Promise<string> {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start this through pnpm, for example with `pnpm rehearse`.');
  return run({ command: process.execPath, args: [join(root, 'internal/toolchains/pnpm.mjs'), ...args], cwd });
}

export function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return run({ command: 'git', args, cwd });
}

/** Copies the repository as it is, uncommitted work included, into a folder that is a repository of its own. */
export async function copyRepository(folder: string): Promise<void> {
  const listed = await git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '-z');
  const paths = listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
  for (const path of paths) await cp(join(root, path), join(folder, path));
  await git(folder, 'init', '-q', '-b', 'main');
  await git(folder, 'add', '-A');
  const author = ['-c', 'user.name=release', '-c', 'user.email=release@example.com'];
  await git(folder, ...author, 'commit', '-q', '-m', 'A copy');
}

/** Gives the packages of a copy their next version, as in a release, and builds them. */
export async function versionAndBuild(folder: string): Promise<void> {
  await pnpm(folder, 'install', '--frozen-lockfile', '--prefer-offline');
  await pnpm(folder, 'exec', 'changeset', 'version');
  await pnpm(folder, 'exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only');
}

/** The published packages of a copy, by name. */
export function publishedPackages(repository: string): readonly Published[] {
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

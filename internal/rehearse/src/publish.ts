import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { npmSettings, type Registry, SCOPE } from './registry.ts';
import { run } from './run.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** Wrong packages, each under a tag of its own. A rehearsal that passes with one of them proves nothing. */
export const WRONG_TAGS = ['without-dist', 'without-core', 'other-core'] as const;

/** The packages of a copy of this repository, by name: the folders of their sources there. */
export type Packages = ReadonlyMap<string, string>;

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  dependencies?: Record<string, string>;
}

/** Copies the repository as it is, uncommitted work included, into a folder that is a repository of its own. */
export async function copyRepository(folder: string): Promise<void> {
  const listed = await run({
    command: 'git',
    args: ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    cwd: root,
  });
  await mkdir(folder, { recursive: true });
  const paths = listed.split('\0').filter((path) => path !== '' && globSync(path, { cwd: root }).length > 0);
  for (const path of paths) await cp(join(root, path), join(folder, path));
  const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@example.com'];
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    [...author, 'commit', '-q', '-m', 'rehearsal'],
  ])
    await run({ command: 'git', args, cwd: folder });
}

/** Gives the packages of a copy their next version, as a release does. */
export async function version(folder: string): Promise<Packages> {
  await pnpm(folder, 'install', '--frozen-lockfile', '--prefer-offline');
  await pnpm(folder, 'exec', 'changeset', 'version');
  return publishedPackages(folder);
}

export async function publishedPackages(folder: string): Promise<Packages> {
  const packages = new Map<string, string>();
  for (const path of globSync('packages/*/package.json', { cwd: folder })) {
    const { name, private: isPrivate } = await readManifest(join(folder, dirname(path)));
    if (isPrivate !== true) packages.set(name, join(folder, dirname(path)));
  }
  return packages;
}

/** Builds and publishes the packages of a copy, and the wrong ones. */
export async function publish(folder: string, packages: Packages, registry: Registry): Promise<void> {
  await pnpm(folder, 'exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only');
  for (const source of packages.values()) await publishOne(source, registry, 'latest');
  await publishWrong(packages, registry);
}

async function publishWrong(packages: Packages, registry: Registry): Promise<void> {
  const express = packages.get(`${SCOPE}/express`) ?? '';
  const { version: released = '' } = await readManifest(express);
  const core = packages.get(`${SCOPE}/core`) ?? '';
  const wrong = async (
    source: string,
    tag: (typeof WRONG_TAGS)[number],
    change: (manifest: Manifest) => void,
  ): Promise<void> => {
    const manifest = await readManifest(source);
    manifest.version = `${released}-${tag}`;
    change(manifest);
    await writeFile(join(source, 'package.json'), JSON.stringify(manifest, null, 2));
    await publishOne(source, registry, tag);
  };
  const exactly = (version: string) => (manifest: Manifest) => {
    manifest.dependencies = { [`${SCOPE}/core`]: version };
  };
  await wrong(core, 'other-core', () => {});
  await wrong(express, 'other-core', exactly(`${released}-other-core`));
  await wrong(express, 'without-core', (manifest) => {
    manifest.dependencies = {};
  });
  await rm(join(express, 'dist'), { recursive: true });
  await wrong(express, 'without-dist', exactly(released));
}

async function publishOne(source: string, registry: Registry, tag: string): Promise<void> {
  await writeFile(join(source, '.npmrc'), npmSettings(registry));
  await pnpm(
    source,
    'publish',
    '--no-git-checks',
    '--ignore-scripts',
    '--tag',
    tag,
    '--registry',
    `${registry.url}/`,
  );
}

/** Runs the pnpm that started this process. */
export async function pnpm(cwd: string, ...args: readonly string[]): Promise<void> {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start the rehearsal through pnpm: `pnpm rehearse`.');
  await run({ command: process.execPath, args: [join(root, 'internal', 'pnpm', 'pnpm.mjs'), ...args], cwd });
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

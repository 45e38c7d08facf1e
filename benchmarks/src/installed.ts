import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unpack } from '@publint/pack';

/** The published packages that are measured: core and the adapters, by the name of their folder. */
export const PACKAGES = ['core', 'express', 'fastify', 'fetch', 'koa'] as const;

/** The packages that they are compared with, in the first project. */
export const PEERS = [
  'stripe',
  'svix',
  'standardwebhooks',
  '@octokit/webhooks-methods',
  '@octokit/webhooks',
] as const;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly imports?: { readonly '#digest': { readonly default: unknown } };
}

const root = join(import.meta.dirname, '..', '..');

/**
 * Lays the packages out as a package manager would, from the tarballs of `pnpm pack`: two projects, one as it is, and
 * `portable`, where the condition `node` is taken out of core's package.json, as browsers and workers resolve it. No
 * framework is in either project: an adapter that imported its framework would not load.
 *
 * @param folder an empty folder.
 */
export async function installPacked(
  folder: string,
): Promise<{ readonly project: string; readonly portable: string }> {
  const [project, portable] = [join(folder, 'node'), join(folder, 'portable')];
  await Promise.all(PACKAGES.map((name) => pack(join(root, 'packages', name), folder)));
  for (const tarball of globSync('*.tgz', { cwd: folder })) {
    const path = join(folder, tarball);
    await layOut(path, project, (manifest) => manifest);
    await layOut(path, portable, withoutNode);
  }
  for (const peer of PEERS) await link(join(root, 'benchmarks'), peer, project);
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  return { project, portable };
}

/**
 * Imports a package of a project by its name.
 *
 * @param from the project's folder, or that of a package in it for the package's own `#imports`.
 */
export function importFrom<T>(from: string, name: string): Promise<T> {
  return import(pathToFileURL(createRequire(join(from, 'package.json')).resolve(name)).href);
}

export function homeOf(project: string, name: (typeof PACKAGES)[number]): string {
  return join(project, 'node_modules', '@payment-service', name);
}

/** pnpm applies `publishConfig`: the packed manifest points at dist, the one in the workspace at src. */
async function pack(source: string, destination: string): Promise<void> {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start this through pnpm, which packs the packages: `npx -y pnpm@12.21.0 bench`.');
  const pnpm = join(root, 'internal', 'toolchains', 'pnpm.mjs');
  const child = spawn(process.execPath, [pnpm, 'pack', '--pack-destination', destination], {
    cwd: source,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`pnpm pack in ${source} ended with ${status}.`);
}

async function layOut(
  tarball: string,
  project: string,
  edit: (manifest: Manifest) => Manifest,
): Promise<void> {
  const { rootDir, files } = await unpack(new Uint8Array(await readFile(tarball)).buffer);
  const contents = new Map(files.map(({ name, data }) => [name.slice(rootDir.length + 1), data]));
  const manifest: Manifest = JSON.parse(new TextDecoder().decode(contents.get('package.json')));
  if (!contents.has('dist/index.js'))
    throw new Error(
      `${manifest.name} is not built: \`npx -y pnpm@12.21.0 --filter ${manifest.name} build\`.`,
    );
  contents.set('package.json', new TextEncoder().encode(JSON.stringify(edit(manifest))));
  const home = join(project, 'node_modules', manifest.name);
  for (const [name, data] of contents) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), data);
  }
  const source = join(root, 'packages', manifest.name.split('/').at(-1) ?? '');
  const thirdParty = Object.keys(manifest.dependencies ?? {}).filter((name) => !name.startsWith('@payment-'));
  for (const name of thirdParty) await link(source, name, home);
}

function withoutNode(manifest: Manifest): Manifest {
  if (manifest.imports === undefined) return manifest;
  return { ...manifest, imports: { '#digest': { default: manifest.imports['#digest'].default } } };
}

async function link(from: string, name: string, into: string): Promise<void> {
  const path = join(into, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(await realpath(join(from, 'node_modules', name)), path, 'junction');
}

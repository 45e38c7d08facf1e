import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  installPacked as install,
  packPackage,
  publishedPackages,
  withManifest,
} from '@payment-service/release/toolchains';

const SCOPE = '@payment-service';
/** The published packages that are measured: core and the adapters, by folder name. */
export const PACKAGES = ['core', 'express', 'fastify', 'fetch', 'koa'] as const;

/** The peers in the first project, and what is imported from each. */
export const PEERS: Readonly<Record<string, string>> = {
  stripe: 'default',
  standardwebhooks: 'Webhook',
  '@octokit/webhooks': 'createNodeMiddleware',
};

/**
 * Lays the packages out as a package manager would, from the tarballs of `pnpm pack`: two projects, one unchanged, and
 * `portable`, where the condition `node` is removed from core's package.json, which is how browsers and workers resolve it. No
 * framework is in either project: an adapter that imported its framework would not load.
 *
 * @param folder an empty folder.
 */
export async function installPacked(
  folder: string,
): Promise<{ readonly project: string; readonly portable: string }> {
  const [project, portable] = [join(folder, 'node'), join(folder, 'portable')];
  const measured = publishedPackages().filter(({ name }) =>
    PACKAGES.some((one) => name === `${SCOPE}/${one}`),
  );
  const packages = await Promise.all(measured.map((one) => packPackage(one.folder, folder)));
  const own = join(import.meta.dirname, '..');
  await install(
    packages,
    project,
    Object.keys(PEERS).map((peer) => [peer, own]),
  );
  await install(
    packages.map((one) => withManifest(one, withoutNode)),
    portable,
    [],
  );
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  return { project, portable };
}

/**
 * Imports one of a project's packages by name.
 *
 * @param from the project's folder, or that of a package in it for the package's own `#imports`.
 */
export function importFrom<T>(from: string, name: string): Promise<T> {
  return import(pathToFileURL(createRequire(join(from, 'package.json')).resolve(name)).href);
}

export function homeOf(project: string, name: (typeof PACKAGES)[number]): string {
  return join(project, 'node_modules', SCOPE, name);
}

function withoutNode(text: string): string {
  const manifest: { exports?: Readonly<Record<string, { node?: unknown }>> } = JSON.parse(text);
  for (const entry of Object.values(manifest.exports ?? {})) delete entry.node;
  return JSON.stringify(manifest);
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type Installed, installPacked } from '../src/install-packed.ts';
import { packPublished, publishedFolders } from '../src/pack-published.ts';
import { readTarballs } from '../src/packed-package.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A project outside the workspace with every packed package installed, and the tarballs in `tarballs/`. */
    scratch: string;
  }
}

const own = join(import.meta.dirname, '..');
const root = join(own, '..', '..');
const DIRECT: readonly Installed[] = [
  ['@hono/node-server', own],
  ['@types/express', own],
  ['@types/koa', own],
  ['@types/node', root],
  ['express', own],
  ['fastify', own],
  ['koa', own],
];

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Outside the workspace: no node_modules above it can lend a package that is not declared.
  const scratch = await mkdtemp(join(tmpdir(), 'packed-'));
  const tarballs = join(scratch, 'tarballs');
  await packPublished(tarballs);
  const folders = publishedFolders();
  await installPacked(await readTarballs(tarballs), (name) => folders.get(name) ?? '', scratch, DIRECT);
  project.provide('scratch', scratch);
  return () => rm(scratch, { recursive: true, force: true });
}

import { existsSync, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Installed,
  installPacked,
  packPublished,
  readTarballs,
  withManifest,
} from '@payment-service/release/toolchains';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * A project outside the workspace with every packed package installed, the tarballs in `tarballs/`, and in `older/`
     * the packages as they look to a resolver that does not know the condition `module-sync`.
     */
    scratch: string;
  }
}

const own = join(import.meta.dirname, '..', '..');
const root = join(own, '..', '..');
const TMPFS = 0x01021994;
const DIRECT: readonly Installed[] = [
  ['@hono/node-server', own],
  ['@types/express', own],
  ['@types/koa', own],
  ['@types/node', root],
  ['express', own],
  ['fastify', own],
  ['hono', own],
  ['koa', own],
  ['zod', own],
];

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Outside the workspace: no node_modules above it can supply a package that is not declared.
  const scratch = await mkdtemp(join(temporaryDisk(), 'packed-'));
  const tarballs = join(scratch, 'tarballs');
  await packPublished(tarballs);
  const packages = await readTarballs(tarballs);
  await installPacked(packages, scratch, DIRECT);
  const older = packages.map((one) =>
    withManifest(one, (text) => text.replaceAll('"module-sync"', '"unknown"')),
  );
  await installPacked(older, join(scratch, 'older'), DIRECT);
  project.provide('scratch', scratch);
  return () => rm(scratch, { recursive: true, force: true });
}

/** A folder for temporary files on a disk: the inbox refuses a file in memory. */
function temporaryDisk(): string {
  const isMemory = process.platform === 'linux' && statfsSync(tmpdir()).type === TMPFS;
  return isMemory && existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
}

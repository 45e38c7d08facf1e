import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PackedPackage } from './packed-package.ts';

/** A third-party package of this workspace: its name, and a folder that depends on it. */
export type Installed = readonly [name: string, by: string];

/**
 * Lays out the packages as a package manager would: their files from the tarballs, their dependencies only beside their own
 * code, so that an undeclared dependency is not found. Third-party packages are links to the versions of this workspace.
 *
 * @param sourceOf The folder of a package's sources, with its dependencies installed.
 * @param project The folder of the program that uses the packages.
 * @param direct The other dependencies of that program.
 */
export async function installPacked(
  packages: readonly PackedPackage[],
  sourceOf: (packageName: string) => string,
  project: string,
  direct: readonly Installed[],
): Promise<void> {
  for (const { manifest, files } of packages) {
    const home = join(project, 'node_modules', manifest.name);
    for (const { name, data } of files) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), data);
    }
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (packages.every((other) => other.manifest.name !== name))
        await link([name, sourceOf(manifest.name)], home);
    }
  }
  for (const installed of direct) await link(installed, project);
}

async function link([name, by]: Installed, into: string): Promise<void> {
  const path = join(into, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(await realpath(join(by, 'node_modules', name)), path, 'junction');
}

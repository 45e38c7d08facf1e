/**
 * `pnpm release --dry-run`: versions, builds and packs the commit in a clone, and prints exactly what would be published. `pnpm
 * release --check`: fails while a packed file contains the placeholder of the repository's owner.
 *
 * There is no third form. Only the workflow `release` publishes, so no other account or machine needs the right to.
 */
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type PackedFile,
  packPackage,
  publishedPackages,
  readManifest,
  root,
} from '@payment-service/release/toolchains';
import { git, versionAndBuild } from './repository.ts';

/** The placeholder for the owner of the repository until there is one. */
const PLACEHOLDER = 'OWNER';

if (import.meta.main) {
  const [mode] = process.argv.slice(2);
  if (mode === '--dry-run') await dryRun();
  else if (mode === '--check') await check();
  else fail('Releases are made by the workflow `release`. Use --dry-run to see what it would publish.');
}

async function check(): Promise<void> {
  const { repository } = readManifest<{ repository: { url: string } }>(join(root, 'package.json'));
  // First, since most of the other problems follow from it, and it needs no build.
  if (repository.url.includes(PLACEHOLDER))
    return fail(
      `package.json names the repository ${repository.url}: write the real one, then run \`pnpm metadata\`.`,
    );
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'release-'));
  for (const { name, folder } of publishedPackages()) {
    const { files } = await packPackage(folder, scratch.path);
    for (const file of placeholderFiles(files))
      fail(`${name}: ${file} contains ${PLACEHOLDER}: run \`pnpm metadata\`, or correct it by hand.`);
  }
}

/** The names of the files that contain the placeholder as a separate word. */
export function placeholderFiles(files: readonly PackedFile[]): readonly string[] {
  const pattern = new RegExp(`\\b${PLACEHOLDER}\\b`);
  return files.filter(({ data }) => pattern.test(Buffer.from(data).toString())).map(({ name }) => name);
}

async function dryRun(): Promise<void> {
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'release-'));
  const clone = join(scratch.path, 'repository');
  if ((await git(root, 'status', '--porcelain')) !== '')
    console.log('Uncommitted changes are not part of this: a release is made from a commit.\n');
  await git(scratch.path, 'clone', '--quiet', root, clone);
  const before = publishedPackages(clone);
  await versionAndBuild(clone);
  console.log(`Commit ${(await git(clone, 'rev-parse', '--short', 'HEAD')).trim()} would be published as:`);
  for (const { folder, version } of before)
    console.log(`\n${(await packedLines(folder, version, scratch.path)).join('\n')}`);
  console.log('\nNothing was published.');
}

/**
 * Packs a built package, and describes the tarball in lines: its name, versions, sizes and every file.
 *
 * @throws {Error} if the package is not built.
 */
export async function packedLines(
  folder: string,
  previousVersion: string,
  destination: string,
): Promise<readonly string[]> {
  const { manifest, bytes, files } = await packPackage(folder, destination);
  const { name, version } = manifest;
  if (version === previousVersion) return [`${name} ${version}: no changeset, not published`];
  const unpacked = files.reduce((sum, { data }) => sum + data.length, 0);
  return [
    `${name} ${previousVersion} → ${version}: ${files.length} files, ${kB(bytes)} packed, ${kB(unpacked)} unpacked`,
    ...files.map((file) => `${kB(file.data.length).padStart(12)}  ${file.name}`),
  ];
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

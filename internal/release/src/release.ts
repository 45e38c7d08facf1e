/**
 * `pnpm release --dry-run`: versions, builds and packs the commit in a clone, and prints exactly what would be published.
 * `pnpm release --check`: fails while a packed file contains the placeholder of the repository's owner.
 *
 * There is no third form. Only the workflow `release` publishes, so no person and no machine needs the right to.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpack } from '@publint/pack';
import { git, pnpm, publishedPackages, readManifest, root, versionAndBuild } from './repository.ts';

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
  const scratch = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    for (const { name, folder } of publishedPackages(root)) {
      const { files } = await packed(folder, scratch);
      for (const file of placeholderFiles(files))
        fail(`${name}: ${file} contains ${PLACEHOLDER}: run \`pnpm metadata\`, or correct it by hand.`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The names of the files that contain the placeholder as a separate word. */
export function placeholderFiles(files: readonly PackedFile[]): readonly string[] {
  const pattern = new RegExp(`\\b${PLACEHOLDER}\\b`);
  return files.filter(({ data }) => pattern.test(Buffer.from(data).toString())).map(({ name }) => name);
}

async function dryRun(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'release-'));
  const clone = join(scratch, 'repository');
  try {
    if ((await git(root, 'status', '--porcelain')) !== '')
      console.log('Uncommitted changes are not part of this: a release is made from a commit.\n');
    await git(scratch, 'clone', '--quiet', root, clone);
    const before = publishedPackages(clone);
    await versionAndBuild(clone);
    console.log(`Commit ${(await git(clone, 'rev-parse', '--short', 'HEAD')).trim()} would be published as:`);
    for (const { folder, version } of before)
      console.log(`\n${(await packedLines(folder, version, scratch)).join('\n')}`);
    console.log('\nNothing was published.');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A packed file; `name` is its path inside the package. */
export interface PackedFile {
  readonly name: string;
  readonly data: Uint8Array;
}

/**
 * Packs a built package with `pnpm pack`, which applies `publishConfig`.
 *
 * @throws {Error} when the package is not built.
 */
async function packed(
  folder: string,
  destination: string,
): Promise<{ name: string; version: string; bytes: number; files: readonly PackedFile[] }> {
  // Scripts such as `prepack` may print before the result.
  const output = await pnpm(folder, 'pack', '--json', '--pack-destination', destination);
  const { name, version, filename }: { name: string; version: string; filename: string } = JSON.parse(
    output.slice(output.indexOf('{\n')),
  );
  const tarball = readFileSync(filename);
  const { files, rootDir } = await unpack(new Uint8Array(tarball).buffer);
  const own = files.map((file) => ({ name: file.name.slice(rootDir.length + 1), data: file.data }));
  return { name, version, bytes: tarball.length, files: own };
}

/**
 * Packs a built package, and describes the tarball in lines: its name, versions, sizes and every file.
 *
 * @throws {Error} when the package is not built.
 */
export async function packedLines(
  folder: string,
  previousVersion: string,
  destination: string,
): Promise<readonly string[]> {
  const { name, version, bytes, files } = await packed(folder, destination);
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

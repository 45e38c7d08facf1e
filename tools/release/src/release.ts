/**
 * `pnpm release --dry-run`: versions, builds and packs the commit in a clone, and prints exactly what would be published. `pnpm
 * release --check`: fails while a file that users or GitHub read contains the placeholder for the repository's owner.
 *
 * There is no third form. Only the `release` workflow publishes, so no other account or machine needs that permission.
 */
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPackage, publishedPackages, root } from '@payment-service/release/toolchains';
import { git, placeholdersIn, versionAndBuild } from './repository.ts';

const [mode] = process.argv.slice(2);
if (mode === '--dry-run') await dryRun();
else if (mode === '--check') check();
else fail('Releases are made by the workflow `release`. Use --dry-run to see what it would publish.');

function check(): void {
  const found = placeholdersIn(root);
  // Checked first, since most of the others follow from it.
  if (found.includes('package.json'))
    fail(
      'package.json names OWNER as the owner of its repository: write the real one, then run `pnpm metadata`.',
    );
  for (const path of found)
    if (path !== 'package.json')
      fail(`${path} contains OWNER: run \`pnpm metadata\`, or correct it by hand.`);
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
  for (const { name, folder, version: previous } of before) {
    const { manifest, bytes, files } = await packPackage(folder, scratch.path);
    const title = `\n${name} ${previous}`;
    if (manifest.version === previous) {
      console.log(`${title}: no changeset, not published`);
      continue;
    }
    const unpacked = files.reduce((sum, { data }) => sum + data.length, 0);
    console.log(
      `${title} → ${manifest.version}: ${files.length} files, ${kB(bytes)} packed, ${kB(unpacked)} unpacked`,
    );
    for (const { data, name: file } of files) console.log(`${kB(data.length).padStart(12)}  ${file}`);
  }
  console.log('\nNothing was published.');
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

/**
 * `pnpm release --dry-run`: versions, builds and packs the commit in a clone, and prints exactly what would be published.
 * `pnpm release --check`: fails where the packages still name the placeholder of a repository.
 *
 * There is no third form. The workflow `release` publishes, so no person and no machine holds the right to.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PLACEHOLDER } from './metadata.ts';
import { packPackage, pnpm, releaseLines } from './packed.ts';

const root = join(import.meta.dirname, '../../..');
const [mode] = process.argv.slice(2);

if (mode === '--dry-run') {
  await dryRun();
} else if (mode === '--check') {
  const { repository }: { repository: { url: string } } = readManifest(root);
  if (repository.url.includes(PLACEHOLDER))
    fail(
      `package.json names the repository ${repository.url}: write the real one, then run \`pnpm metadata\`.`,
    );
} else {
  fail('Releases are made by the workflow `release`. Use --dry-run to see what it would publish.');
}

async function dryRun(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'release-'));
  const clone = join(scratch, 'repository');
  try {
    if (git(root, 'status', '--porcelain') !== '')
      console.log('Uncommitted changes are not part of this: a release is made from a commit.\n');
    git(root, 'clone', '--quiet', root, clone);
    pnpm(clone, ['install', '--frozen-lockfile', '--prefer-offline']);
    const before = published(clone);
    pnpm(clone, ['exec', 'changeset', 'version']);
    pnpm(clone, ['build']);
    const tarballs = join(scratch, 'tarballs');
    mkdirSync(tarballs);
    console.log(`Commit ${git(clone, 'rev-parse', '--short', 'HEAD')} would be published as:`);
    for (const [folder, version] of before) {
      const packed = await packPackage(join(clone, folder), tarballs);
      console.log(`\n${releaseLines(packed, version).join('\n')}`);
    }
    console.log('\nNothing was published.');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The folders of the published packages, and their versions. */
function published(repository: string): ReadonlyMap<string, string> {
  const folders = globSync('packages/*/package.json', { cwd: repository }).sort().map(dirname);
  const manifests = folders.map((folder) => ({
    folder,
    ...readManifest<{ version: string; private?: boolean }>(join(repository, folder)),
  }));
  return new Map(manifests.filter((one) => one.private !== true).map((one) => [one.folder, one.version]));
}

function readManifest<Manifest>(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...args], { cwd, encoding: 'utf8' }).trim();
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

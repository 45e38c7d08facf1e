import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { pnpm, root, run } from '@payment-service/release/toolchains';

export function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return run({ command: 'git', args, cwd });
}

/** Copies the repository, including uncommitted changes, into a folder that becomes a separate repository. */
export async function copyRepository(folder: string): Promise<void> {
  const listed = await git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '-z');
  const paths = listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
  for (const path of paths) await cp(join(root, path), join(folder, path));
  await git(folder, 'init', '-q', '-b', 'main');
  await git(folder, 'add', '-A');
  const author = ['-c', 'user.name=release', '-c', 'user.email=release@example.com'];
  await git(folder, ...author, 'commit', '-q', '-m', 'A copy');
}

/** Gives the packages of a copy their next version, as in a release, and builds them. */
export async function versionAndBuild(folder: string): Promise<void> {
  await pnpm(folder, 'install', '--frozen-lockfile', '--prefer-offline');
  await pnpm(folder, 'exec', 'changeset', 'version');
  await pnpm(folder, 'exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only');
}

/** The files that users and GitHub read. CONTRIBUTING.md explains the placeholder. */
const READ = [
  ...[
    'package.json',
    'README.md',
    'SECURITY.md',
    '.github/CODEOWNERS',
    '.github/**/*.{yml,md}',
    'docs/**/*.md',
  ],
  'packages/*/{package.json,*.md,src/**/*.ts}',
];

/** The files that contain OWNER, the placeholder until the repository has an owner. */
export function placeholdersIn(folder: string): string[] {
  return globSync(READ, { cwd: folder })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\bOWNER\b/.test(readFileSync(join(folder, path), 'utf8')))
    .toSorted();
}

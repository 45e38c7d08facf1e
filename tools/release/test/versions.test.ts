/** A release gives all packages the same version, whatever changed in core, and its changelogs contain sentences for users. */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishedPackages, readManifest, root, run } from '@payment-service/release/toolchains';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRepository, git } from '../src/repository.ts';

let folder: string;
let copy: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'versions-'));
  copy = join(folder, 'repository');
  await copyRepository(copy);
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['patch', (major: number, minor: number, patch: number) => [major, minor, patch + 1]],
  ['minor', (major: number, minor: number) => [major, minor + 1, 0]],
  ['major', (major: number) => [major + 1, 0, 0]],
] as const)(
  'a %s change of core alone gives every published package the same version, and no private one',
  async (step, next) => {
    await git(copy, 'checkout', '-q', '--', '.');
    await git(copy, 'clean', '-fdq', '-e', 'node_modules');
    const before = versions();
    const [major = 0, minor = 0, patch = 0] = (before.get('@payment-service/core') ?? '')
      .split('.')
      .map(Number);
    for (const path of globSync('.changeset/*.md', { cwd: copy })) rmSync(join(copy, path));
    for (const name of ['first', 'second'])
      writeFileSync(
        join(copy, `.changeset/${name}.md`),
        `---\n'@payment-service/core': ${step}\n---\n\nThe ${name} change.\n`,
      );
    const changesets = join(root, 'node_modules/@changesets/cli/bin.js');
    await run({ command: process.execPath, args: [changesets, 'version'], cwd: copy });
    const released = next(major, minor, patch).join('.');
    const published = new Set(publishedPackages(copy).map(({ name }) => name));
    expect([...versions()]).toEqual(
      [...before].map(([name, version]) => [name, published.has(name) ? released : version]),
    );
    const changes = (name: string): string[] =>
      readFileSync(join(copy, `packages/${name}/CHANGELOG.md`), 'utf8')
        .match(/^- .*/gm)
        ?.slice(0, 2) ?? [];
    expect(changes('core')).toEqual(['- The first change.', '- The second change.']);
    expect(changes('koa').slice(0, 1)).toEqual([`- Depends on \`@payment-service/core\` ${released}.`]);
  },
);

/** The name and version of every package of the copy. */
function versions(): ReadonlyMap<string, string> {
  const paths = globSync('{packages,internal,apps}/*/package.json', { cwd: copy }).sort();
  const manifests = paths.map((path) => readManifest<{ name: string; version: string }>(join(copy, path)));
  return new Map(manifests.map(({ name, version }) => [name, version]));
}

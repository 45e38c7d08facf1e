/** A release gives all packages the same version, whatever changed in core, and its changelogs contain sentences for users. */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishedPackages, readManifest, root, run } from '@payment-service/release/toolchains';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRepository } from '../src/repository.ts';

let folder: string;
let copy: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'versions-'));
  copy = join(folder, 'repository');
  await copyRepository(copy);
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Of the three steps, this is the one that would give the packages different versions if they were released apart.
test('a major change of core alone gives every published package the same version, and no private one', async () => {
  const before = versions();
  const released = `${Number(before.get('@payment-service/core')?.split('.')[0]) + 1}.0.0`;
  for (const path of globSync('.changeset/*.md', { cwd: copy })) rmSync(join(copy, path));
  for (const name of ['first', 'second'])
    writeFileSync(
      join(copy, `.changeset/${name}.md`),
      `---\n'@payment-service/core': major\n---\n\nThe ${name} change.\n`,
    );
  const changesets = join(root, 'node_modules/@changesets/cli/bin.js');
  await run({ command: process.execPath, args: [changesets, 'version'], cwd: copy });
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
});

/** The name and version of every package of the copy. */
function versions(): ReadonlyMap<string, string> {
  const paths = globSync('{packages,apps}/*/package.json', { cwd: copy }).sort();
  const manifests = paths.map((path) => readManifest<{ name: string; version: string }>(join(copy, path)));
  return new Map(manifests.map(({ name, version }) => [name, version]));
}

/** A release versions all packages as one, whatever changed in core. */
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRepository, publishedPackages } from '../src/publish.ts';
import { run } from '../src/run.ts';

const root = join(import.meta.dirname, '..', '..', '..');
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
  'a %s change of core alone gives every package the same version, and no private one',
  async (step, next) => {
    await run({ command: 'git', args: ['checkout', '-q', '--', '.'], cwd: copy });
    const before = await versions();
    const [major = 0, minor = 0, patch = 0] = (before.get('@payment-service/core') ?? '')
      .split('.')
      .map(Number);
    for (const path of globSync('.changeset/*.md', { cwd: copy })) await rm(join(copy, path));
    const changeset = `---\n'@payment-service/core': ${step}\n---\n\nA change.\n`;
    await writeFile(join(copy, '.changeset', 'change.md'), changeset);
    await run({
      command: process.execPath,
      args: [join(root, 'node_modules', '@changesets', 'cli', 'bin.js'), 'version'],
      cwd: copy,
    });
    const released = next(major, minor, patch).join('.');
    const published = await publishedPackages(copy);
    expect([...(await versions())]).toEqual(
      [...before].map(([name, version]) => [name, published.has(name) ? released : version]),
    );
  },
);

/** Of every package of the copy. */
async function versions(): Promise<ReadonlyMap<string, string>> {
  const paths = globSync('{packages,internal,apps}/*/package.json', { cwd: copy }).sort();
  const manifests = paths.map(async (path) => {
    const { name, version } = JSON.parse(await readFile(join(copy, path), 'utf8')) as {
      name: string;
      version: string;
    };
    return [name, version] as const;
  });
  return new Map(await Promise.all(manifests));
}

/** What a registry shows about a package. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { publishedPackages, root } from '@payment-service/release/toolchains';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Metadata, withMetadata } from '../src/metadata.ts';
import { placeholdersIn } from '../src/repository.ts';

const scratch = mkdtempSync(join(tmpdir(), 'published-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const metadata: Metadata = JSON.parse(read('package.json'));
const folders = publishedPackages().map(({ folder }) => relative(root, folder).replaceAll('\\', '/'));

test.each(folders)('%s has the metadata and the absolute links of a published package', (folder) => {
  const actual = {
    manifest: JSON.parse(read(`${folder}/package.json`)),
    readme: read(`${folder}/README.md`),
  };
  expect(actual, 'run `pnpm metadata`').toEqual(
    withMetadata(folder, actual.manifest, actual.readme, metadata),
  );
});

test('a young version of a dependency is not resolved', () => {
  const { minimumReleaseAge } = parse(read('pnpm-workspace.yaml')) as { minimumReleaseAge: number };
  expect(minimumReleaseAge).toBeGreaterThanOrEqual(3 * 24 * 60);
});

test('control: a package without its build, and a client that ignores publishConfig, are refused', () => {
  const folder = join(scratch, 'package');
  cpSync(join(root, 'packages/koa/package.json'), join(folder, 'package.json'));
  const program = join(root, 'tools/release/before-pack.mjs');
  const guard = (agent: string): string => {
    const options = { cwd: folder, encoding: 'utf8', env: { npm_config_user_agent: agent } } as const;
    const { status, stderr } = spawnSync(process.execPath, [program], options);
    return `${status} ${stderr}`;
  };
  expect(guard('pnpm/12 linux')).toMatch(/^1 @payment-service\/koa: \.\/dist\/index\.cjs, .* is missing/);
  cpSync(join(root, 'packages/koa/dist'), join(folder, 'dist'), { recursive: true });
  expect(guard('pnpm/12 linux')).toBe('0 ');
  expect(guard('npm/11 node/v24')).toMatch(/^1 .*pack and publish with pnpm, not with npm\/11/);
});

test('control: a README gets absolute links; anchors and other addresses stay, and package.json the repository', () => {
  const old = 'https://old.example';
  const text =
    '[a](../core) [b](../../README.md#answers) ![c](../../docs/a.png) [d](#here) [e](https://other.example) [f](https://old.example/tree/main/docs)';
  const own = { homepage: 'https://new.example', bugs: 'B', repository: { type: 'git', url: 'U' } };
  const before = { license: 'MIT', homepage: `${old}/tree/main/packages/koa#readme`, type: 'module' };
  const { manifest, readme } = withMetadata('packages/koa', before, text, own);
  expect(readme).toBe(
    '[a](https://new.example/tree/main/packages/core) [b](https://new.example/blob/main/README.md#answers) ![c](https://new.example/raw/main/docs/a.png) [d](#here) [e](https://other.example) [f](https://new.example/tree/main/docs)',
  );
  expect(Object.entries(manifest)).toEqual([
    ['license', 'MIT'],
    ['homepage', 'https://new.example/tree/main/packages/koa#readme'],
    ['bugs', 'B'],
    ['repository', { type: 'git', url: 'U', directory: 'packages/koa' }],
    ['type', 'module'],
  ]);
});

test('control: a release without --dry-run or --check is refused, and so is a repository that is a placeholder', () => {
  const release = (...args: readonly string[]): string => {
    const program = join(root, 'tools/release/src/release.ts');
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
    return `${status} ${stderr.trim()}`;
  };
  expect(release()).toMatch(/^1 Releases are made by the workflow/);
  const isPlaceholder = metadata.repository.url.includes('OWNER');
  expect(release('--check')).toMatch(isPlaceholder ? /^1 package\.json names OWNER/ : /^0 $/);
});

test('control: a placeholder is found where users and GitHub read it, and nowhere else', () => {
  const folder = join(scratch, 'placeholders');
  const named = [
    '.github/CODEOWNERS',
    '.github/ISSUE_TEMPLATE/config.yml',
    'SECURITY.md',
    'packages/a/src/b.ts',
  ];
  for (const path of [...named, 'packages/a/test/b.ts', 'CONTRIBUTING.md']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), 'github.com/OWNER/x');
  }
  writeFileSync(join(folder, 'README.md'), 'OWNERS');
  expect(placeholdersIn(folder)).toEqual(named.toSorted());
});

/** What a registry shows about a package, and what users install with it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { publishedPackages, root } from '@payment-service/release/toolchains';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { absoluteLinks, type Metadata, type PublishedManifest, publishedProblems } from '../src/metadata.ts';

const scratch = mkdtempSync(join(tmpdir(), 'published-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const metadata: Metadata = JSON.parse(read('package.json'));
const { catalog } = parse(read('pnpm-workspace.yaml')) as { catalog: Record<string, string> };
const folders = publishedPackages().map(({ folder }) => relative(root, folder).replaceAll('\\', '/'));

test.each(folders)('%s has the metadata, links and dependencies of a published package', (folder) => {
  const manifest: PublishedManifest = JSON.parse(read(`${folder}/package.json`));
  expect(publishedProblems(manifest, read(`${folder}/README.md`), folder, metadata, catalog)).toEqual([]);
});

test('a young version of a dependency is not resolved', () => {
  const { minimumReleaseAge } = parse(read('pnpm-workspace.yaml')) as { minimumReleaseAge: number };
  expect(minimumReleaseAge).toBeGreaterThanOrEqual(3 * 24 * 60);
});

describe('controls', () => {
  test('a package without its build, and a client that ignores publishConfig, are refused', () => {
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

  test('missing metadata, relative links, fixed versions, install scripts and required peers are reported', () => {
    const manifest = {
      name: '@payment-service/koa',
      scripts: { postinstall: 'node x.js' },
      dependencies: { a: '1.2.3', b: 'catalog:', c: '^1.0.0' },
      peerDependencies: { koa: '^3', pg: '^8' },
    };
    expect(publishedProblems(manifest, '[core](../core)', 'packages/koa', metadata, { b: '2.0.0' })).toEqual(
      [
        'homepage: run `pnpm metadata`',
        'bugs: run `pnpm metadata`',
        'repository: run `pnpm metadata`',
        'README.md has relative links, which lead nowhere in a registry: run `pnpm metadata`',
        'fewer than five keywords',
        'the script postinstall runs where users install',
        'a is fixed to 1.2.3, so that users get a second copy',
        'b is fixed to 2.0.0, so that users get a second copy',
        'the peer pg is not optional',
      ].map((problem) => `@payment-service/koa: ${problem}`),
    );
  });

  test('relative links and those to an earlier home become absolute; anchors and other addresses stay', () => {
    const text =
      '[a](../core) [b](../../README.md#answers) ![c](../../docs/a.png) [d](#here) [e](https://other.example) [f](https://old.example/tree/main/docs)';
    expect(absoluteLinks(text, 'packages/koa', 'https://new.example', 'https://old.example')).toBe(
      '[a](https://new.example/tree/main/packages/core) [b](https://new.example/blob/main/README.md#answers) ![c](https://new.example/raw/main/docs/a.png) [d](#here) [e](https://other.example) [f](https://new.example/tree/main/docs)',
    );
  });

  test('a release without --dry-run or --check is refused, and so is a repository that is a placeholder', () => {
    const release = (...args: readonly string[]): string => {
      const program = join(root, 'tools/release/src/release.ts');
      const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
      return `${status} ${stderr.trim()}`;
    };
    expect(release()).toMatch(/^1 Releases are made by the workflow/);
    const isPlaceholder = metadata.repository.url.includes('OWNER');
    expect(release('--check')).toMatch(isPlaceholder ? /^1 package\.json names the repository/ : /^0 $/);
  });
});

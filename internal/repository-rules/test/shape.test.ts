/** The shape of sources, tests and packages on which readers can rely. */
import { describe, expect, test } from 'vitest';
import { adapters, publishedPackages, workspacePackages } from '../src/manifests.ts';
import { fileAt, filesMatching, repositoryFiles } from '../src/repository.ts';
import { changesetProblems } from '../src/shape/changeset-problems.ts';
import { uncheckedPackages } from '../src/shape/package-problems.ts';
import { sourceProblems } from '../src/shape/source-problems.ts';
import { testProblems } from '../src/shape/test-problems.ts';
import { codeLines } from '../src/syntax.ts';

const sources = filesMatching(
  '{packages,apps,internal}/*/src/**/*.ts',
  'apps/examples/*.ts',
  'benchmarks/src/**/*.ts',
  'scripts/**/*.ts',
);
const tests = filesMatching('**/*.test.ts', '**/*.test-d.ts', '**/test/**/*.ts');
const filesOf = (folder: string): readonly string[] =>
  repositoryFiles()
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ path }) => path.slice(folder.length + 1));

test('sources switch no check off, and an adapter is one file of at most 75 lines of code', () => {
  expect(sources.length).toBeGreaterThan(50);
  const own = (path: string): boolean =>
    path.includes('/generated/') || path === 'internal/repository-rules/src/shape/source-problems.ts';
  expect(sources.filter(({ path }) => !own(path)).flatMap(sourceProblems)).toEqual([]);
});

test.each(adapters)('the adapter for %s exists and runs the conformance suite', (name) => {
  expect(filesOf(`packages/${name}`)).toContain('src/index.ts');
  const one = publishedPackages().find(({ folder }) => folder === `packages/${name}`);
  expect(one?.manifest.devDependencies).toHaveProperty('@payment-service/adapter-conformance');
});

test('tests are not mocked or timed', () => {
  expect(tests.length).toBeGreaterThan(30);
  // Tests about such tests contain them as strings.
  const own = /^internal\/repository-rules\/test\/(shape|count-report)\.test\.ts$/;
  expect(tests.filter(({ path }) => !own.test(path)).flatMap(testProblems)).toEqual([]);
});

test('the private packages are few, and each says what it is for', () => {
  const folders = workspacePackages()
    .map(({ folder }) => folder)
    .filter((folder) => folder.startsWith('internal/'));
  expect(folders.length).toBeLessThanOrEqual(12);
  expect(folders.filter((folder) => !filesOf(folder).includes('README.md'))).toEqual([]);
});

test('every changeset names published packages and holds a sentence', () => {
  const published = publishedPackages().map(({ manifest }) => manifest.name);
  expect(changesetProblems(filesMatching('.changeset/*.md'), published)).toEqual([]);
});

test('every package with code is type-checked, and every package with tests is tested', () => {
  const program = JSON.parse(fileAt('tsconfig.all.json').text.replaceAll(/^ *\/\/.*$/gm, ''));
  expect(uncheckedPackages(workspacePackages(), filesOf, program)).toEqual([]);
});

describe('controls', () => {
  test('comments and blank lines do not count as code; strings that look like comments do', () => {
    const text = [
      "import { a } from './a.ts';",
      '/** b\n * c\n */',
      '',
      'export function f(g: unknown): void {',
      "  a(g, '/* no comment'); // h",
      '  // i\n\n/* j */',
      '}',
    ].join('\n');
    expect(codeLines({ path: 'a.ts', text })).toBe(4);
  });

  test('sources that switch a check off, and adapters that do more than translate, are reported', () => {
    const found = [
      { path: 'packages/core/src/verify/a.ts', text: '// biome-ignore lint: because' },
      { path: 'packages/koa/src/index.ts', text: '/* why */ call();\n// why\n'.repeat(76) },
      { path: 'packages/koa/src/second.ts', text: '' },
    ].flatMap(sourceProblems);
    expect(found).toEqual([
      'packages/core/src/verify/a.ts: switches off a check: biome-ignore',
      'packages/koa/src/index.ts: has 76 lines of code, more than 75',
      'packages/koa/src/second.ts: an adapter is one source file',
    ]);
  });

  test('tests that prove nothing are reported', () => {
    const lines = ["vi.mock('node:fs');", 'expect(elapsed).toBeLessThan(5);', "test('mock', () => skip());"];
    expect(testProblems({ path: 'a.test.ts', text: lines.join('\n') })).toEqual([
      'a.test.ts:1: vi.mock',
      'a.test.ts:2: expect(elapsed).toBeLess',
    ]);
  });

  test('a changeset of a private package, and one that says nothing, are reported', () => {
    const changeset = (path: string, front: string, sentence: string): { path: string; text: string } => ({
      path,
      text: `---\n${front}\n---\n\n${sentence}\n`,
    });
    const changesets = [
      changeset('good.md', "'@a/core': minor", 'A sentence.'),
      changeset('private.md', "'@a/private': minor", 'A sentence.'),
      changeset('empty.md', '', ''),
    ];
    expect(changesetProblems(changesets, ['@a/core'])).toEqual([
      'private.md: @a/private is not published',
      'empty.md: it names no package',
      'empty.md: it holds no sentence for users',
    ]);
  });

  test('a package that nothing checks is reported', () => {
    const packages = [
      { folder: 'internal/a', manifest: { name: 'a' } },
      { folder: 'internal/b', manifest: { name: 'b', scripts: { test: 'vitest run' } } },
      { folder: 'tools/c', manifest: { name: 'c' } },
      { folder: 'tools/d', manifest: { name: 'd', scripts: { typecheck: 'tsc' } } },
    ];
    const program = { include: ['internal/*/src'], exclude: ['internal/a'] };
    expect(uncheckedPackages(packages, () => ['src/a.ts', 'test/a.test.ts'], program)).toEqual([
      'internal/a: no script typecheck',
      'internal/a: no script test',
      'internal/b: a script test without the report',
      'tools/c: no script typecheck',
      'tools/c: no script test',
      'tools/d: no script test',
    ]);
  });
});

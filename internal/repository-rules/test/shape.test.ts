/** The shape of sources, tests and packages, which a reader can rely on. */
import { describe, expect, test } from 'vitest';
import { adapters, publishedPackages, workspacePackages } from '../src/manifests.ts';
import { fileAt, filesMatching, repositoryFiles } from '../src/repository.ts';
import { manifestProblems, uncheckedPackages } from '../src/shape/manifest-problems.ts';
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

test('sources are short, have telling names and switch no check off', () => {
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

test('tests are not switched off, mocked or timed', () => {
  expect(tests.length).toBeGreaterThan(30);
  // Tests about such tests hold them as strings.
  const own = /^internal\/repository-rules\/test\/(shape|count-report)\.test\.ts$/;
  expect(tests.filter(({ path }) => !own.test(path)).flatMap(testProblems)).toEqual([]);
});

test.each(publishedPackages().map((one) => [one.manifest.name, one] as const))(
  'the published package %s has the shape of the others',
  (_name, one) => {
    expect(manifestProblems(one, filesOf(one.folder))).toEqual([]);
  },
);

test('the private packages are few, and each says what it is for', () => {
  const folders = workspacePackages()
    .map(({ folder }) => folder)
    .filter((folder) => folder.startsWith('internal/'));
  expect(folders.length).toBeLessThanOrEqual(12);
  expect(folders.filter((folder) => !filesOf(folder).includes('README.md'))).toEqual([]);
});

test('every package with code is type-checked, and every package with tests is tested', () => {
  const program = JSON.parse(fileAt('tsconfig.json').text.replaceAll(/^ *\/\/.*$/gm, ''));
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

  test('sources that are too long, vaguely named, re-export everything or switch a check off are reported', () => {
    const adapter = '/* why */ call();\n// why\n'.repeat(61);
    const index = `${'\n'.repeat(41)}export * from './a.ts';\n`;
    const found = [
      { path: 'packages/core/src/verify/utils.ts', text: '// biome-ignore lint: because' },
      { path: 'packages/core/src/index.ts', text: index },
      { path: 'packages/core/src/long.ts', text: 'a;\n'.repeat(301) },
      { path: 'packages/koa/src/index.ts', text: adapter },
      { path: 'packages/koa/src/second.ts', text: '' },
      {
        path: 'packages/inbox/src/store/libraries/an-orm.ts',
        text: `import { a } from './library.ts'\n${'a;\n'.repeat(15)}`,
      },
    ].flatMap(sourceProblems);
    expect(found).toEqual([
      'packages/core/src/verify/utils.ts: "utils" does not describe its contents',
      'packages/core/src/verify/utils.ts: switches off a check: biome-ignore',
      'packages/core/src/index.ts: has 42 lines, more than 40',
      'packages/core/src/index.ts: exports everything of a module: list the names',
      'packages/core/src/long.ts: has 301 lines, more than 300',
      'packages/koa/src/index.ts: has 61 lines of code, more than 60',
      'packages/koa/src/second.ts: an adapter is one source file',
      'packages/inbox/src/store/libraries/an-orm.ts: has 16 lines of code, more than 15',
    ]);
  });

  test('tests that prove nothing are reported', () => {
    const lines = [
      "test.skip('a', () => {});",
      'describe.each(x).only();',
      "vi.mock('node:fs');",
      'context.skip();',
    ];
    const text = [...lines, 'expect(elapsed).toBeLessThan(5);', "test('only', () => skip());"].join('\n');
    expect(testProblems({ path: 'a.test.ts', text })).toEqual([
      'a.test.ts:1: test.skip',
      'a.test.ts:3: vi.mock',
      'a.test.ts:4: context.skip(',
      'a.test.ts:5: expect(elapsed).toBeLess',
    ]);
  });

  test('a package with another shape is reported', () => {
    const [good] = publishedPackages();
    if (good === undefined) throw new Error('nothing is published');
    const { sideEffects: _, ...manifest } = good.manifest;
    const { main: __, ...publishConfig } = manifest.publishConfig ?? {};
    const shape = { exports: { '.': './src/main.ts' }, engines: {}, scripts: {} };
    const wrong = { ...manifest, ...shape, publishConfig };
    expect(manifestProblems({ folder: '', manifest: wrong }, ['src/index.ts'])).toEqual(
      [
        'sideEffects is undefined, not false',
        'engines.node is not >=20.19 or >=22.13',
        'README.md is missing',
        'AGENTS.md is missing',
        'api/index.api.md is missing',
        'the script build is ""',
        'the script prepack is ""',
        'the script test is ""',
        'exports["."] is "./src/main.ts", not "./src/index.ts"',
        expect.stringMatching(/^publishConfig\.exports is /),
        'publishConfig.main is undefined, not "./dist/index.cjs"',
        expect.stringMatching(/^publishConfig\.typesVersions is /),
      ].map((problem) => (typeof problem === 'string' ? `${manifest.name}: ${problem}` : expect.any(String))),
    );
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

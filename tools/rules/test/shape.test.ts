/** The shape of sources, tests and packages on which readers can rely. */
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { adapters, publishedPackages } from '../src/manifests.ts';
import { fileAt, filesMatching, repositoryFiles, type TextFile } from '../src/repository.ts';
import { codeLines } from '../src/syntax.ts';

const MAX_ADAPTER_LINES = 75;
const SWITCHED_OFF = /biome-ignore|@ts-ignore|@ts-nocheck|\bas unknown as\b/;

/** Sources that switch a check off, and adapters that do more than translate. */
function sourceProblems(file: TextFile): readonly string[] {
  const problems: string[] = [];
  const off = SWITCHED_OFF.exec(file.text);
  if (off !== null) problems.push(`switches off a check: ${off[0]}`);
  const [, adapter = ''] = /^packages\/([^/]+)\/src\//.exec(file.path) ?? [];
  if (adapters.includes(adapter)) {
    if (basename(file.path) !== 'index.ts') problems.push('an adapter is one source file');
    const code = codeLines(file);
    if (code > MAX_ADAPTER_LINES) problems.push(`has ${code} lines of code, more than ${MAX_ADAPTER_LINES}`);
  }
  return problems.map((problem) => `${file.path}: ${problem}`);
}

const sources = filesMatching(
  '{packages,apps,proofs,tools}/*/src/**/*.ts',
  'apps/examples/*.ts',
  'tools/*.ts',
).filter(({ path }) => !path.includes('/generated/'));
const filesOf = (folder: string): readonly string[] =>
  repositoryFiles()
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ path }) => path.slice(folder.length + 1));

test('sources switch no check off, and an adapter is one file of at most 75 lines of code', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.flatMap(sourceProblems)).toEqual([]);
});

test.each(adapters)('the adapter for %s exists and runs the conformance suite', (name) => {
  expect(filesOf(`packages/${name}`)).toContain('src/index.ts');
  const one = publishedPackages().find(({ folder }) => folder === `packages/${name}`);
  expect(one?.manifest.devDependencies).toHaveProperty('@payment-service/conformance');
});

/** Names of files in comments of sources that the repository does not have. */
function missingNames({ path, text }: TextFile, known: ReadonlySet<string>): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    if (!/^\s*(?:\/\/|\*|\/\*)/.test(line)) return [];
    const names = line.match(/(?<![*\w.-])[\w-]+(?:\.[\w-]+)*\.(?:ts|sql|mjs)\b/g) ?? [];
    return names
      .filter((name) => !known.has(name) && name !== EXAMPLE)
      .map((name) => `${path}:${index + 1}: ${name} does not exist`);
  });
}
/** In the usage of a command. */
const EXAMPLE = 'name.ts';

test('files that comments of sources name exist', () => {
  const known = new Set(repositoryFiles().map(({ path }) => basename(path)));
  expect(sources.flatMap((file) => missingNames(file, known))).toEqual([]);
  const wrong = { path: 'a.ts', text: 'call(); // gone.ts\n * See here.ts and gone.ts.' };
  expect(missingNames(wrong, new Set(['here.ts']))).toEqual(['a.ts:2: gone.ts does not exist']);
});

/** Where a version of pnpm is not that of package.json. */
function otherVersions({ path, text }: TextFile, expected: string): readonly string[] {
  const found = text.match(/(?<=\bpnpm@)\d+\.\d+\.\d+/g) ?? [];
  return found.filter((version) => version !== expected).map((version) => `${path}: pnpm@${version}`);
}

test('every file that names a version of pnpm names that of package.json', () => {
  const { text } = fileAt('package.json');
  const [, expected = ''] = /"packageManager": "pnpm@([\d.]+)"/.exec(text) ?? [];
  const files = repositoryFiles().filter(({ path }) => path !== 'pnpm-lock.yaml');
  expect(files.flatMap((file) => otherVersions(file, expected))).toEqual([]);
  const wrong = { path: 'a.md', text: `npx -y pnpm@${'1.2.3'} test` };
  expect(otherVersions(wrong, expected)).toEqual([`a.md: ${'pnpm'}@1.2.3`]);
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

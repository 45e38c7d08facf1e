import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { unknownCommands } from '../../src/documents/unknown-commands.ts';
import { pnpmVersions } from '../../src/documents/versions.ts';
import { rootManifest, workspacePackages } from '../../src/manifests.ts';
import { fencedBlocks, section } from '../../src/markdown.ts';
import { fileAt, filesMatching, isInRepository, repositoryFiles } from '../../src/repository.ts';

const commands = { packages: workspacePackages(), exists: isInRepository };
const { packageManager = '', scripts = {}, engines = {}, optionalDependencies = {} } = rootManifest();

test.each(filesMatching('**/*.md', '*.md').map((document) => [document.path, document] as const))(
  'every command in %s exists',
  (_path, document) => {
    expect(unknownCommands(document, commands)).toEqual([]);
  },
);

test('the two commands of the README for a clone are the scripts start and test, and CI runs the second', () => {
  const [block] = fencedBlocks(section(fileAt('README.md').text, '## From a clone'));
  const lines = block?.code
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s*#.*/, ''));
  expect(lines).toEqual([`npx -y ${packageManager} start`, `npx -y ${packageManager} test`]);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
  expect(fileAt('.ci/run').text).toMatch(new RegExp(`^exec npx -y ${packageManager} test$`, 'm'));
});

test('one version of pnpm is named everywhere', () => {
  expect([...pnpmVersions(repositoryFiles()).keys()].map((version) => `pnpm@${version}`)).toEqual([
    packageManager,
  ]);
});

test('one version of Node runs the tools, and the README names the oldest Node that can start them', () => {
  const workspace = parse(fileAt('pnpm-workspace.yaml').text) as { nodeVersion: string };
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([workspace.nodeVersion]));
  expect(fileAt('README.md').text).toContain(`Node ${engines['node']?.replace('>=', '')} or later`);
});

test('control: scripts, packages, files and programs that do not exist are reported', () => {
  const pnpm = `pnpm@${'1.0.0'}`;
  const text = [
    '```sh',
    `npx -y ${pnpm} start   # works`,
    `npx -y ${pnpm} strat`,
    `npx -y ${pnpm} --filter @payment-service/core test`,
    `npx -y ${pnpm} --filter @payment-service/cor test`,
    `npx -y ${pnpm} --filter @payment-service/core tset`,
    'npm install @payment-service/core express',
    'npm install @payment-service/none',
    'python3 gone.py && curl http://127.0.0.1:4010',
    'PORT=1 npx @payment-service/tool',
    'npx payment-service-tool --port 1',
    'npx payment-service-gone',
    '```',
    'and `pnpm run tpyo`',
  ].join('\n');
  const packages = [
    { folder: '', manifest: { name: 'root', private: true, scripts: { start: '' } } },
    { folder: 'packages/core', manifest: { name: '@payment-service/core', scripts: { test: '' } } },
    {
      folder: 'packages/tool',
      manifest: { name: '@payment-service/tool', bin: { 'payment-service-tool': '' } },
    },
  ];
  expect(unknownCommands({ path: 'README.md', text }, { packages, exists: () => false })).toEqual([
    `README.md: npx -y ${pnpm} strat`,
    `README.md: npx -y ${pnpm} --filter @payment-service/cor test`,
    `README.md: npx -y ${pnpm} --filter @payment-service/core tset`,
    'README.md: npm install @payment-service/none',
    'README.md: python3 gone.py',
    'README.md: npx payment-service-gone',
    'README.md: pnpm run tpyo',
  ]);
});

test('control: a second version of pnpm is reported, with its file', () => {
  const [old, other] = ['1.2.3', '1.2.4'];
  const files = [
    { path: 'a', text: `npx -y pnpm@${old} test` },
    { path: 'b', text: `"packageManager": "pnpm@${other}"` },
    { path: 'pnpm-lock.yaml', text: `pnpm@${other}` },
  ];
  expect([...pnpmVersions(files)]).toEqual([
    [old, ['a']],
    [other, ['b']],
  ]);
});

/** The steps of CONTRIBUTING.md for a new adapter: the package that they begin with passes the conformance suite. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newAdapter } from '../../../scripts/new-adapter.ts';
import { fencedBlocks, section } from '../src/markdown.ts';
import { fileAt, root } from '../src/repository.ts';

const scratch = mkdtempSync(join(tmpdir(), 'new-adapter-'));
const folder = join(scratch, 'packages', 'example');
afterAll(() => rmSync(scratch, { recursive: true }));

beforeAll(() => {
  newAdapter(root, 'example', folder);
  writeFileSync(join(scratch, 'package.json'), '{ "type": "module" }');
  // What `pnpm install` does: the new package depends on a part of what its model depends on.
  for (const path of ['vitest.shared.ts', 'tsconfig.base.json', 'node_modules'])
    symlinkSync(join(root, path), join(scratch, path));
  symlinkSync(join(root, 'packages/fetch/node_modules'), join(folder, 'node_modules'), 'junction');
});

function conformance(...more: readonly string[]): {
  readonly success: boolean;
  readonly numPassedTests: number;
} {
  const report = join(scratch, 'report.json');
  const args = ['run', '--reporter=json', `--outputFile.json=${report}`, ...more, 'test/example.test.ts'];
  spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], { cwd: folder });
  return JSON.parse(readFileSync(report, 'utf8'));
}

test('a new adapter compiles, is named after its framework, and passes the conformance suite', () => {
  const { name, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  expect([name, Object.keys(devDependencies)]).toEqual([
    '@payment-service/example',
    ['@payment-service/adapter-conformance', 'tsdown', 'typescript', 'vitest'],
  ]);
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
  const { success, numPassedTests } = conformance();
  expect([success, numPassedTests > 400]).toEqual([true, true]);
});

test('control: the suite fails in a new adapter that answers by itself', () => {
  const path = join(folder, 'src/index.ts');
  const text = readFileSync(path, 'utf8');
  const wrong = text.replace('new Response(reply.body, reply)', 'new Response(reply.body)');
  expect(wrong).not.toBe(text);
  writeFileSync(path, wrong);
  expect(conformance('--bail=1').success).toBe(false);
});

test('CONTRIBUTING.md has the five steps, and the first one is the script', () => {
  const text = section(fileAt('CONTRIBUTING.md').text, '## A new adapter');
  expect([...text.matchAll(/^\d\. /gm)]).toHaveLength(5);
  expect(
    fencedBlocks(text)
      .map(({ code }) => code)
      .join(),
  ).toContain('new-adapter hapi');
});

test('control: a name that no package can have, and a folder that exists, are refused', () => {
  expect(() => newAdapter(root, '../hapi')).toThrow('cannot be the name');
  expect(() => newAdapter(root, 'koa')).toThrow('exists');
});

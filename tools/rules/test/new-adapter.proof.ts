/** The steps of CONTRIBUTING.md for a new adapter: the package that they begin with passes the conformance suite. */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAdapter, SIBLINGS } from '../../../tools/new-adapter.ts';
import { root } from '../src/repository.ts';

/** The names of other frameworks and runtimes. The web's own `fetch` and Request belong to none. */
const FOREIGN = /express|fastify|koa|hono|nextjs|nestjs|\bbun\b|\bdeno\b|\bworkers?\b/i;

describe.each(['node', 'fetch'] as const)('new-adapter --%s', (like) => {
  const scratch = mkdtempSync(join(tmpdir(), 'new-adapter-'));
  const folder = join(scratch, 'packages', 'example');
  afterAll(() => rmSync(scratch, { recursive: true }));

  beforeAll(() => {
    newAdapter(root, 'example', like, folder);
    writeFileSync(join(scratch, 'package.json'), '{ "type": "module" }');
    // Does the work of `pnpm install`: the new package depends on a part of its sibling's dependencies.
    for (const path of ['vitest.shared.ts', 'tsdown.shared.ts', 'tsconfig.base.json', 'node_modules'])
      symlinkSync(join(root, path), join(scratch, path));
    const installed = join(root, 'packages', SIBLINGS[like].folder, 'node_modules');
    symlinkSync(installed, join(folder, 'node_modules'), 'junction');
  });

  function conformance(...more: readonly string[]): {
    readonly success: boolean;
    readonly numPassedTests: number;
  } {
    return run(...more, 'test/example.test.ts');
  }

  function run(...more: readonly string[]): ReturnType<typeof conformance> {
    const report = join(scratch, 'report.json');
    const args = ['run', '--reporter=json', `--outputFile.json=${report}`, ...more];
    spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], { cwd: folder });
    return JSON.parse(readFileSync(report, 'utf8'));
  }

  test('the copy names no other framework, in no file', () => {
    const files = globSync(['*.*', '{src,test}/*'], { cwd: folder });
    expect(files).toHaveLength(10);
    const lines = files.flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .map((line) => `${file}: ${line}`),
    );
    // Every package has this condition of `exports` (decision D24).
    const own = lines.map((line) => line.replace('"bun": "./dist/', ''));
    expect(own.filter((line) => FOREIGN.test(line))).toEqual([]);
  });

  test('the copy compiles, and passes the conformance suite', () => {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    const { success, numPassedTests } = conformance();
    expect([success, numPassedTests > 100]).toEqual([true, true]);
  });

  test('the copy answers hostile requests as the other adapters do', () => {
    const { success, numPassedTests } = run('--mode', 'proofs', 'test/hostile.proof.ts');
    expect([success, numPassedTests]).toEqual([true, 2]);
  });

  test('control: the suite fails in a new adapter that decides the status', () => {
    const path = join(folder, 'src/index.ts');
    const text = readFileSync(path, 'utf8');
    const wrong = text
      .replace('new Response(reply.body, reply)', 'new Response(reply.body)')
      .replace('res.statusCode = status', 'res.statusCode = 200');
    expect(wrong).not.toBe(text);
    writeFileSync(path, wrong);
    expect(conformance('--bail=1').success).toBe(false);
  });
});

test('control: a name that no package can have, and a folder that exists, are refused', () => {
  expect(() => newAdapter(root, '../hapi', 'node')).toThrow('cannot be the name');
  expect(() => newAdapter(root, 'koa', 'node')).toThrow('exists');
});

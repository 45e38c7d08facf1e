/** What a registry would receive: nothing missing, nothing superfluous, and entry points that every resolver understands. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type PackedFile,
  publishedPackages,
  readTarballs,
  textOf,
} from '@payment-service/release/toolchains';
import { describe, expect, inject, test } from 'vitest';
import { contentProblems } from '../../src/packed/content-problems.ts';
import { publintMessages, typeProblems } from '../../src/packed/lint-package.ts';

const packages = await readTarballs(join(inject('scratch'), 'tarballs'));
const license = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'LICENSE'), 'utf8');
const [core] = packages;
if (core === undefined) throw new Error('nothing was packed');

test('every published package was packed', () => {
  expect(packages.map(({ manifest }) => manifest.name).sort()).toEqual(
    publishedPackages()
      .map(({ name }) => name)
      .sort(),
  );
});

describe.each(packages.map((one) => [one.manifest.name, one] as const))(
  '%s',
  (_name, { manifest, files }) => {
    test('holds dist, README.md, AGENTS.md, LICENSE and package.json, and nothing of the machine that made it', () => {
      expect(contentProblems(files)).toEqual([]);
    });

    test('carries the licence of the repository', () => {
      expect(files.filter(({ name }) => name === 'LICENSE').map(textOf)).toEqual([license]);
    });

    test('passes publint without a remark', async () => {
      expect(await publintMessages(files)).toEqual([]);
    });

    test('has the right types for import and require', async () => {
      expect(await typeProblems(manifest, files)).toEqual([]);
    });

    // The rows nft… of the rehearsal show that tracers then copy it.
    test('each CommonJS entry names the module that Node loads in its place (decision D24)', () => {
      const textAt = (path: string): string =>
        files
          .filter(({ name }) => name === path)
          .map(textOf)
          .join('');
      const entries = [...textAt('package.json').matchAll(/"default": "\.\/dist\/([\w.]+)\.cjs"/g)];
      expect(entries.length).toBeGreaterThan(0);
      for (const [, name = ''] of entries)
        expect(textAt(`dist/${name}.cjs`)).toContain(`__dirname + '/${name}.js'`);
    });
  },
);

describe('controls', () => {
  const { manifest, files } = core;

  test('an extra file, a missing file, a path, a lost source map and a workspace version are reported', () => {
    const home = ['', 'home', 'someone', 'sdk'].join('/');
    const wrong = [
      ...without(files, 'LICENSE', 'package.json'),
      file('package.json', '{"dependencies":{"a":"workspace:^"}}'),
      file('src/index.ts', ''),
      file('dist/path.js', `throw new Error('${home}/index.ts')`),
      file('dist/map.js', '//# sourceMappingURL=map.js.map'),
    ];
    expect(contentProblems(wrong)).toEqual([
      'LICENSE is missing',
      'package.json names a version that only the workspace knows',
      'src/index.ts is published',
      `dist/path.js names a path of a machine: ${home.slice(0, 7)}`,
      'dist/map.js names a missing source map: map.js.map',
    ]);
  });

  test('publint reports an entry point that is not in the tarball', async () => {
    const messages = await publintMessages(without(files, 'dist/index.cjs'));
    expect(messages).toHaveLength(2); // `main` and `exports`
    expect(messages.join()).toContain('dist/index.cjs');
  });

  test('the types are reported where require gets those of import', async () => {
    const text = files
      .filter(({ name }) => name === 'package.json')
      .map(textOf)
      .join('');
    const wrong = text.replace('"types": "./dist/index.d.cts"', '"types": "./dist/index.d.ts"');
    expect(wrong).not.toBe(text);
    const problems = await typeProblems(manifest, [
      ...without(files, 'package.json'),
      file('package.json', wrong),
    ]);
    expect(problems.join()).toContain('FalseESM');
  });
});

function file(name: string, text: string): PackedFile {
  return { name, data: new TextEncoder().encode(text) };
}

function without(files: readonly PackedFile[], ...names: readonly string[]): PackedFile[] {
  return files.filter(({ name }) => !names.includes(name));
}

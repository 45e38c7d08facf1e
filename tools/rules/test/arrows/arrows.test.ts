/** ARCHITECTURE.md draws which package uses which; no package.json or import adds an arrow. */
import { describe, expect, test } from 'vitest';
import {
  adapters,
  publishedPackages,
  type WorkspacePackage,
  workspacePackages,
} from '../../src/manifests.ts';
import { section } from '../../src/markdown.ts';
import { fileAt, filesMatching, repositoryFiles } from '../../src/repository.ts';
import { type Arrows, drawnArrows, undrawnDependencies } from './drawn-arrows.ts';
import { foreignImports, roomCircles } from './foreign-imports.ts';

const arrows = drawnArrows(section(fileAt('ARCHITECTURE.md').text, '## The arrows'));

test('the drawing names every published package', () => {
  const names = publishedPackages().map(({ folder }) => folder.replace('packages/', ''));
  expect([...arrows.keys()]).toEqual(expect.arrayContaining(names));
});

test('packages depend on each other only along the arrows', () => {
  expect(undrawnDependencies(workspacePackages(), arrows)).toEqual([]);
});

test('no file imports a file of another package', () => {
  // The rules themselves import the scripts of the root, which is not a package.
  expect(foreignImports(workspacePackages(), repositoryFiles())).toEqual([]);
});

test('adapters import only the entries of core that are meant for them, and nothing that is meant for tests', () => {
  const sources = filesMatching(...adapters.map((name) => `packages/${name}/src/**`));
  const core = sources.flatMap(({ text }) => text.match(/'@payment-service\/[^']*'/g) ?? []);
  expect(core.length).toBeGreaterThanOrEqual(adapters.length);
  const allowed = ['core', 'core/receive', 'core/internal'].map((name) => `'@payment-service/${name}'`);
  expect(core.filter((module) => !allowed.includes(module))).toEqual([]);
});

test('no rooms of a package import each other', () => {
  const packages = workspacePackages();
  expect(packages.length).toBeGreaterThan(15);
  expect(packages.flatMap(({ folder }) => roomCircles(folder, repositoryFiles()))).toEqual([]);
});

describe('controls', () => {
  test('rooms that import each other, directly or through a third one, are reported', () => {
    const files = [
      ['packages/a/src/index.ts', "import './work/a.ts';"],
      ['packages/a/src/work/a.ts', "import type { B } from '../intake/b.ts';\nimport './c.ts';"],
      ['packages/a/src/intake/b.ts', "const store = () => import('../store/s.ts');"],
      ['packages/a/src/store/s.ts', "export { c } from '../work/c.ts';"],
      ['packages/a/src/work/c.ts', "import '../words.ts';"],
    ].map(([path = '', text = '']) => ({ path, text }));
    expect(roomCircles('packages/a', files)).toEqual([
      'packages/a: work',
      'packages/a: intake',
      'packages/a: store',
    ]);
    expect(roomCircles('packages/a', files.slice(0, 3))).toEqual([]);
  });

  const drawn: Arrows = drawnArrows(
    '    openapi → core → koa | express → apps/shop\n    core → proofs/suite → (dev only) the adapters\n',
  );
  const one = (folder: string, manifest: object): WorkspacePackage => ({
    folder,
    manifest: { name: `@payment-service/${folder.split('/').at(-1)}`, ...manifest },
  });

  test('arrows backwards or sideways, and dependencies on private packages, are reported', () => {
    const needs = (...names: readonly string[]): object =>
      Object.fromEntries(names.map((name) => [`@payment-service/${name}`, 'workspace:*']));
    const exports = { '.': './src/index.ts' };
    const packages = [
      one('openapi', { private: true, exports }),
      one('packages/core', { exports, dependencies: needs('koa'), devDependencies: needs('openapi') }),
      one('packages/koa', {
        exports,
        dependencies: needs('core', 'express'),
        devDependencies: needs('suite'),
      }),
      one('packages/express', { exports, peerDependencies: needs('openapi') }),
      one('packages/new', { exports, dependencies: needs('core') }),
      one('apps/shop', { private: true, dependencies: needs('koa'), devDependencies: needs('rules') }),
      one('proofs/suite', { private: true, exports, dependencies: needs('koa') }),
      one('tools/rules', { private: true, dependencies: needs('koa', 'suite') }),
    ];
    expect(undrawnDependencies(packages, drawn)).toEqual([
      'core uses @payment-service/koa',
      'koa uses @payment-service/express',
      'express uses @payment-service/openapi',
      'new uses @payment-service/core',
      'shop uses @payment-service/rules',
      'suite uses @payment-service/koa',
    ]);
  });

  test('imports that reach into another package are reported', () => {
    const files = [
      ['packages/core/src/index.ts', "import * as z from 'zod';\nexport * from '../test/a.ts';\n"],
      ['packages/koa/src/index.ts', "import { a } from './a.ts';\nawait import('../../core/src/b.ts');\n"],
    ].map(([path = '', text = '']) => ({ path, text }));
    expect(foreignImports([one('packages/core', {}), one('packages/koa', {})], files)).toEqual([
      'packages/koa/src/index.ts: ../../core/src/b.ts',
    ]);
  });
});

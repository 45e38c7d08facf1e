/** What a registry would receive: nothing missing, nothing superfluous, and entry points that every resolver understands. */

import { join, posix } from 'node:path';
import { checkPackage, Package } from '@arethetypeswrong/core';
import {
  type PackedFile,
  type PackedManifest,
  publishedPackages,
  readTarballs,
  textOf,
} from '@payment-service/release/toolchains';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, inject, test } from 'vitest';

const ALLOWED =
  /^(dist\/.+\.(js|cjs|d\.ts|d\.cts|LICENSE)|(AGENTS|CHANGELOG|README)\.md|LICENSE|package\.json)$/;
// A home folder, a temporary folder or a drive: a path of the machine that built it.
const MACHINE_PATH = /(?<![\w.:/])(?:\/(?:home|Users|root|tmp|var|work|mnt|opt)\/|[A-Z]:\\\\?)\w/;

interface PublishedManifest extends PackedManifest {
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** What a tarball contains but should not, or lacks but should contain; one line each. */
function contentProblems(files: readonly PackedFile[]): string[] {
  const names = files.map(({ name }) => name);
  const problems = ['README.md', 'AGENTS.md', 'LICENSE', 'package.json']
    .filter((name) => !names.includes(name))
    .map((name) => `${name} is missing`);
  for (const file of files) {
    const { name } = file;
    if (!ALLOWED.test(name)) problems.push(`${name} is published`);
    const text = textOf(file);
    const path = MACHINE_PATH.exec(text);
    if (path !== null) problems.push(`${name} names a path of a machine: ${path[0]}`);
    for (const [, map = ''] of text.matchAll(/sourceMappingURL=(\S+)/g)) {
      if (!names.includes(posix.join(posix.dirname(name), map)))
        problems.push(`${name} names a missing source map: ${map}`);
    }
    if (name === 'package.json') problems.push(...dependencyProblems(text));
  }
  return problems;
}

/** The dependencies that users could not install, or would install twice or for nothing. */
function dependencyProblems(text: string): readonly string[] {
  const { name, dependencies, peerDependencies, peerDependenciesMeta }: PublishedManifest = JSON.parse(text);
  const isWorkspace = /"(workspace|catalog|link|file):/.test(text);
  const fixed = Object.entries(dependencies ?? {}).filter(([, range]) => !range.startsWith('^'));
  // The framework of an adapter is the peer with the adapter's name: without it, the package is useless.
  const required = Object.keys(peerDependencies ?? {}).filter(
    (peer) => !name.endsWith(`/${peer}`) && !peerDependenciesMeta?.[peer]?.optional,
  );
  return [
    ...(isWorkspace ? ['package.json names a version that only the workspace knows'] : []),
    ...fixed.map(([one, range]) => `${one} is fixed to ${range}, so that users get a second copy`),
    ...required.map((peer) => `the peer ${peer} is not optional`),
  ];
}

/** The targets of an entry of `exports`. */
type Target = string | { readonly [condition: string]: Target };

/** The file that a runtime with these conditions loads. */
function resolve(target: Target | undefined, conditions: readonly string[]): string | undefined {
  if (target === undefined || typeof target === 'string') return target;
  const known = Object.keys(target).filter((one) => one === 'default' || conditions.includes(one));
  return known.map((one) => resolve(target[one], conditions)).find((file) => file !== undefined);
}

/**
 * The entries of a package that give `import` and `require` two files on Node, Bun or Deno, or one that is not in the package:
 * `instanceof` then fails between the two copies (threat A37).
 */
function copyProblems(files: readonly PackedFile[]): string[] {
  const manifest = files.filter(({ name }) => name === 'package.json').map(textOf);
  const { exports }: { exports: Record<string, Target> } = JSON.parse(manifest.join(''));
  // Deno has those of Node, and Bun does not know module-sync.
  const runtimes = { Node: ['node', 'module-sync'], Bun: ['bun', 'node'] };
  return Object.entries(runtimes).flatMap(([runtime, conditions]) =>
    Object.entries(exports).flatMap(([entry, target]) => {
      const [imported, required] = ['import', 'require'].map((one) => resolve(target, [...conditions, one]));
      const isThere = files.some(({ name }) => `./${name}` === imported);
      return imported === required && isThere ? [] : [`${entry} on ${runtime}: ${imported}, ${required}`];
    }),
  );
}

/** The findings of publint, including suggestions. */
async function publintMessages(files: readonly PackedFile[]): Promise<string[]> {
  const pack = { files: files.map(({ name, data }) => ({ name: `package/${name}`, data })) };
  const { messages, pkg } = await publint({ pkgDir: 'package', pack, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/**
 * The findings of "are the types wrong?" for every entry point, for `import` and `require` under TypeScript's node16 and
 * bundler resolution, and for the types under that of Node 10. Node itself reads `exports`, so there need be no JavaScript
 * where the resolution of Node 10 looks for a subpath.
 */
async function typeProblems(manifest: PackedManifest, files: readonly PackedFile[]): Promise<string[]> {
  const paths = files.map((file) => [`/node_modules/${manifest.name}/${file.name}`, textOf(file)]);
  const result = await checkPackage(new Package(Object.fromEntries(paths), manifest.name, '0.0.0'), {
    // For our own packages, whose declarations do not need its types: an editor would offer its names to everyone.
    excludeEntrypoints: ['./internal'],
  });
  if (result.types === false) return ['no types'];
  return result.problems.map((problem) => JSON.stringify(problem));
}

const packages = await readTarballs(join(inject('scratch'), 'tarballs'));
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

    test('passes publint without a remark', async () => {
      expect(await publintMessages(files)).toEqual([]);
    });

    test('has the right types for import and require', async () => {
      expect(await typeProblems(manifest, files)).toEqual([]);
    });

    test('threat A37: import and require load the same file of every entry, on Node, Deno and Bun', () => {
      expect(copyProblems(files)).toEqual([]);
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
  const { files } = core;

  test('an entry without the condition of a runtime, and a file that is missing, are reported', () => {
    const target = { bun: './a.js', import: './README.md', require: './b.cjs' };
    const { bun: _, ...older } = { ...target, 'module-sync': './README.md' };
    const manifest = { exports: { '.': target, './older': older } };
    const wrong = [...without(files, 'package.json'), file('package.json', JSON.stringify(manifest))];
    expect(copyProblems(wrong)).toEqual([
      '. on Node: ./README.md, ./b.cjs',
      './older on Node: ./README.md, ./b.cjs',
      '. on Bun: ./a.js, ./a.js',
      './older on Bun: ./README.md, ./b.cjs',
    ]);
  });

  test('an extra file, a missing file, a path, a lost source map, a fixed version and a required peer are reported', () => {
    const home = ['', 'home', 'someone', 'sdk'].join('/');
    const manifest = {
      name: '@payment-service/koa',
      dependencies: { a: '^1.0.0', b: '1.2.3' },
      devDependencies: { c: 'workspace:^' },
      peerDependencies: { koa: '^3', pg: '^8' },
    };
    const wrong = [
      ...without(files, 'LICENSE', 'package.json'),
      file('package.json', JSON.stringify(manifest)),
      file('src/index.ts', ''),
      file('dist/path.js', `throw new Error('${home}/index.ts')`),
      file('dist/map.js', '//# sourceMappingURL=map.js.map'),
    ];
    expect(contentProblems(wrong)).toEqual([
      'LICENSE is missing',
      'package.json names a version that only the workspace knows',
      'b is fixed to 1.2.3, so that users get a second copy',
      'the peer pg is not optional',
      'src/index.ts is published',
      `dist/path.js names a path of a machine: ${home.slice(0, 7)}`,
      'dist/map.js names a missing source map: map.js.map',
    ]);
  });
});

function file(name: string, text: string): PackedFile {
  return { name, data: new TextEncoder().encode(text) };
}

function without(files: readonly PackedFile[], ...names: readonly string[]): PackedFile[] {
  return files.filter(({ name }) => !names.includes(name));
}

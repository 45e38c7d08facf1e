import { matchesGlob } from 'node:path';
import type { Manifest, WorkspacePackage } from '../manifests.ts';

const SCRIPTS = {
  build: /^tsdown$/,
  // Refuses a package without a build, and every client but pnpm.
  prepack: /^node \.\.\/\.\.\/internal\/release\/before-pack\.mjs$/,
  test: /^vitest run( --typecheck)? --reporter=default --reporter=json --outputFile\.json=\.test-report\.json$/,
};

/** How a published package differs from the others: users and tools rely on a common shape. */
export function manifestProblems(
  { manifest }: WorkspacePackage,
  files: readonly string[],
): readonly string[] {
  const { publishConfig = {}, scripts = {}, engines = {}, exports = {} } = manifest;
  const problems: string[] = [];
  const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
    const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (is !== shouldBe) problems.push(`${what} is ${is}, not ${shouldBe}`);
  };
  expectEqual('license', manifest.license, 'MIT');
  expectEqual('type', manifest.type, 'module');
  expectEqual('sideEffects', manifest.sideEffects, false);
  expectEqual('files', manifest.files, ['dist', 'AGENTS.md', 'CHANGELOG.md']);
  expectEqual('publishConfig.access', publishConfig.access, 'public');
  if (!manifest.description) problems.push('description is missing');
  if (!/^>=(20\.19|22\.13)$/.test(engines['node'] ?? ''))
    problems.push('engines.node is not >=20.19 or >=22.13');
  // The report of the public API, where a new name or type is a reviewed line.
  for (const file of ['README.md', 'AGENTS.md', 'api/index.api.md'])
    if (!files.includes(file)) problems.push(`${file} is missing`);
  for (const [name, pattern] of Object.entries(SCRIPTS))
    if (!pattern.test(scripts[name] ?? '')) problems.push(`the script ${name} is "${scripts[name] ?? ''}"`);
  for (const [subpath, target] of Object.entries(exports)) {
    if (subpath === './package.json') continue;
    const name = subpath === '.' ? 'index' : subpath.slice(2);
    // An entry is a file, the index of a room of its own, or a store.
    const rooms = [`src/${name}/index.ts`, `src/store/libraries/${name}.ts`];
    const source = rooms.find((path) => files.includes(path)) ?? `src/${name}.ts`;
    expectEqual(`exports["${subpath}"]`, target, `./${source}`);
    if (!files.includes(source)) problems.push(`${source} is missing`);
  }
  expectEqual('publishConfig.exports', publishConfig.exports, publishedExports(exports));
  // For TypeScript with moduleResolution node10, which does not read exports.
  expectEqual('publishConfig.main', publishConfig.main, './dist/index.cjs');
  expectEqual('publishConfig.types', publishConfig.types, './dist/index.d.cts');
  expectEqual('publishConfig.typesVersions', publishConfig.typesVersions, typesVersions(exports));
  expectEqual(
    'the names in publishConfig.bin',
    Object.keys(publishConfig.bin ?? {}),
    Object.keys(manifest.bin ?? {}),
  );
  return problems.map((problem) => `${manifest.name}: ${problem}`);
}

function typesVersions(exports: NonNullable<Manifest['exports']>): unknown {
  const names = Object.keys(exports)
    .filter((subpath) => subpath !== '.' && subpath !== './package.json')
    .map((subpath) => subpath.slice(2));
  if (names.length === 0) return undefined;
  return { '*': Object.fromEntries(names.map((name) => [name, [`./dist/${name}.d.cts`]])) };
}

/** One instance for `import` and `require` if Node supports `module-sync`; types beside each form. */
function publishedExports(exports: NonNullable<Manifest['exports']>): Record<string, unknown> {
  const entries = Object.keys(exports).map((subpath) => {
    if (subpath === './package.json') return [subpath, subpath];
    const name = `./dist/${subpath === '.' ? 'index' : subpath.slice(2)}`;
    // What adapters load is one file, which the other entries of core pass on (packages/core/tsdown.config.ts).
    const file = subpath === './internal' ? './dist/core' : name;
    const esm = { types: `${name}.d.ts`, default: `${file}.js` };
    const commonjs = { types: `${name}.d.cts`, default: `${file}.cjs` };
    return [subpath, { 'module-sync': esm, import: esm, require: commonjs }];
  });
  return Object.fromEntries(entries);
}

/**
 * Packages whose code is not checked by any script of the test command.
 *
 * @param program tsconfig.json of the root: what it leaves out needs a script of its own.
 */
export function uncheckedPackages(
  packages: readonly WorkspacePackage[],
  filesOf: (folder: string) => readonly string[],
  program: { readonly include: readonly string[]; readonly exclude: readonly string[] },
): readonly string[] {
  return packages
    .filter(({ folder }) => folder !== '')
    .flatMap(({ folder, manifest }) => {
      const files = filesOf(folder);
      const { scripts = {} } = manifest;
      const problems: string[] = [];
      const code = files.filter((path) => path.endsWith('.ts')).map((path) => `${folder}/${path}`);
      const isIncluded = program.include.some((glob) =>
        code.some((path) => matchesGlob(path, glob.endsWith('.ts') ? glob : `${glob}/**`)),
      );
      if (code.length > 0 && !scripts['typecheck'] && (!isIncluded || program.exclude.includes(folder)))
        problems.push('no script typecheck');
      if (files.some((path) => path.endsWith('.test.ts')) && !scripts['test'])
        problems.push('no script test');
      if (scripts['test'] && !SCRIPTS.test.test(scripts['test']))
        problems.push('a script test without the report');
      return problems.map((problem) => `${folder}: ${problem}`);
    });
}

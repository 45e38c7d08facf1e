import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pnpm } from './packed.ts';

/** A third-party package that comes with a published one. */
export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** As its package.json names it (SPDX). */
  readonly license: string;
  /** The names of its scripts. */
  readonly scripts: readonly string[];
  /** A native module, which npm compiles where it finds this file. */
  readonly hasGypFile: boolean;
}

const ACCEPTED = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];
const RUN_ON_INSTALL = ['preinstall', 'install', 'postinstall'];
const PUBLISHED = ['--filter', './packages/*'];

/** Everything that users install with the published packages, and what those contain a copy of. */
export function publishedDependencies(root: string): readonly Dependency[] {
  const output = pnpm(root, [...PUBLISHED, 'licenses', 'list', '--prod', '--json']);
  const byLicense: Record<string, { paths: string[] }[]> = JSON.parse(output.slice(output.indexOf('{')));
  const installed = Object.values(byLicense).flatMap((packages) => packages.flatMap(({ paths }) => paths));
  // A copy may be installed as well.
  const folders = new Set([...installed, ...bundled(root)].map((folder) => realpathSync(folder)));
  return [...folders].map(readDependency);
}

/** The folders of the packages that a build copies: each leaves its licence beside the copy. */
function bundled(root: string): readonly string[] {
  return globSync('packages/*/dist/*.LICENSE', { cwd: root }).map((path) => {
    const [, folder = '', name = ''] = /^(packages.[^/\\]+).dist.(.+)\.LICENSE$/.exec(path) ?? [];
    return join(root, folder, 'node_modules', name);
  });
}

function readDependency(folder: string): Dependency {
  const manifest: { name: string; version: string; license?: string; scripts?: Record<string, string> } =
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return {
    name: manifest.name,
    version: manifest.version,
    license: manifest.license ?? 'none',
    scripts: Object.keys(manifest.scripts ?? {}),
    hasGypFile: existsSync(join(folder, 'binding.gyp')),
  };
}

/** The dependencies that users should not get from us, one line each. */
export function dependencyProblems(dependencies: readonly Dependency[]): readonly string[] {
  return dependencies.flatMap(({ name, version, license, scripts, hasGypFile }) => {
    const problems = scripts
      .filter((script) => RUN_ON_INSTALL.includes(script))
      .map((script) => `runs ${script} where users install`);
    if (hasGypFile) problems.push('is compiled where users install');
    if (!ACCEPTED.includes(license)) problems.push(`has the licence ${license}`);
    return problems.map((problem) => `${name} ${version} ${problem}`);
  });
}

/** Writes the bill of materials (CycloneDX, JSON) of what users install. */
export function writeBillOfMaterials(root: string, path: string): void {
  pnpm(root, [...PUBLISHED, 'sbom', '--prod', '--sbom-format', 'cyclonedx', '--out', path]);
}

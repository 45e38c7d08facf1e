/**
 * `pnpm dependencies`: lists what users install with the packages, writes reports/sbom.cdx.json, and fails if a licence is not
 * accepted or something would run during installation.
 */
import { existsSync, globSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pnpm, readManifest, root } from '@payment-service/release/toolchains';

/** A third-party package that is installed with a published one: its package.json and whether npm would compile it. */
export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** SPDX. */
  readonly license?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly hasGypFile: boolean;
}

const ACCEPTED = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];
const RUN_ON_INSTALL = ['preinstall', 'install', 'postinstall'];
const PUBLISHED = ['--filter', './packages/*', '--filter', '!@payment-service/pages'];

/** Everything that users install with the published packages, and the packages of which those contain a copy. */
export async function publishedDependencies(): Promise<readonly Dependency[]> {
  const output = await pnpm(root, ...PUBLISHED, 'licenses', 'list', '--prod', '--json');
  const byLicense: Record<string, { paths: string[] }[]> = JSON.parse(output.slice(output.indexOf('{')));
  const installed = Object.values(byLicense).flatMap((packages) => packages.flatMap(({ paths }) => paths));
  // A build that copies a package leaves the licence next to the copy. The original is installed in the published package, in the
  // private package that is bundled with it, or as a dependency of a dependency.
  const copied = globSync('packages/*/dist/**/*.LICENSE', { cwd: root }).map((path) => {
    const [, folder = '', name = ''] = /^(packages.[^/\\]+).dist.(.+)\.LICENSE$/.exec(path) ?? [];
    const places = [folder, 'packages/pages', 'node_modules/.pnpm'].map((place) =>
      join(root, place, 'node_modules', name),
    );
    return places.find((place) => existsSync(place)) ?? join(root, folder, 'node_modules', name);
  });
  const folders = new Set([...installed, ...copied].map((folder) => realpathSync(folder)));
  return [...folders].map((folder) => ({
    ...readManifest<Omit<Dependency, 'hasGypFile'>>(join(folder, 'package.json')),
    hasGypFile: existsSync(join(folder, 'binding.gyp')),
  }));
}

/** The dependencies that we must not pass on to users, one line each. */
export function dependencyProblems(dependencies: readonly Dependency[]): readonly string[] {
  return dependencies.flatMap(({ name, version, license = 'none', scripts = {}, hasGypFile }) => {
    const problems = RUN_ON_INSTALL.filter((script) => script in scripts).map(
      (script) => `runs ${script} where users install`,
    );
    if (hasGypFile) problems.push('is compiled where users install');
    if (!ACCEPTED.includes(license)) problems.push(`has the licence ${license}`);
    return problems.map((problem) => `${name} ${version} ${problem}`);
  });
}

/** Writes the bill of materials (CycloneDX, JSON) for what users install. */
export async function writeBillOfMaterials(path: string, dependencies: readonly Dependency[]): Promise<void> {
  const output = await pnpm(root, ...PUBLISHED, 'sbom', '--prod', '--sbom-format', 'cyclonedx');
  const bill: { components: { readonly purl: string }[] } = JSON.parse(output);
  // pnpm lists only what is installed, but a build may also contain a copy of a development dependency.
  for (const { name: fullName, version, license: id } of dependencies) {
    const purl = `pkg:npm/${fullName.replace('@', '%40')}@${version}`;
    if (bill.components.some((one) => one.purl === purl)) continue;
    const [name, group] = fullName.split('/').reverse();
    const component = { type: 'library', group, name, version, purl, licenses: [{ license: { id } }] };
    bill.components.push(component);
  }
  writeFileSync(path, JSON.stringify(bill, null, 2));
}

if (import.meta.main) {
  const dependencies = await publishedDependencies();
  for (const { name, version, license = 'none' } of dependencies)
    console.log(`${license.padEnd(12)} ${name} ${version}`);
  mkdirSync(join(root, 'reports'), { recursive: true });
  await writeBillOfMaterials(join(root, 'reports/sbom.cdx.json'), dependencies);
  console.log('Wrote reports/sbom.cdx.json.');
  const problems = dependencyProblems(dependencies);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

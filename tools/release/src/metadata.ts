/**
 * `pnpm metadata`: writes the repository that the root's package.json names into the published packages: their package.json
 * and the links of their READMEs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { publishedPackages, readManifest, root } from '@payment-service/release/toolchains';

/** The members of the root's package.json that every published package repeats. */
export interface Metadata {
  readonly repository: { readonly type: string; readonly url: string };
  readonly homepage: string;
  readonly bugs: string;
}

/** What a published package.json says about its origin, for the package in `folder`. */
export function packageMetadata({ repository, homepage, bugs }: Metadata, folder: string): object {
  return {
    homepage: `${pageOf(homepage, folder)}#readme`,
    bugs,
    repository: { ...repository, directory: folder },
  };
}

/**
 * A README with absolute links, as registries show it: relative links, and links to an earlier home of the repository,
 * lead to the repository on the web.
 *
 * @param folder the folder of the README, from the root.
 * @param previous the homepage that the links named before.
 */
export function absoluteLinks(text: string, folder: string, homepage: string, previous: string): string {
  return text
    .replaceAll(previous, homepage)
    .replaceAll(/(?<=\]\()(?![a-z][a-z+.-]*:|#)([^)\s#]+)/gi, (link) => {
      const { pathname } = new URL(link, `file:///${folder}/README.md`);
      return pageOf(homepage, pathname.slice(1));
    });
}

/** GitHub shows files under `blob` and folders under `tree`; each redirects to the other. Pictures need `raw`. */
function pageOf(homepage: string, path: string): string {
  const view = /\.(png|svg|jpe?g)$/.test(path) ? 'raw' : /\.\w+$/.test(path) ? 'blob' : 'tree';
  return `${homepage}/${view}/main/${path.replace(/\/$/, '')}`;
}

/** The members of a published package.json that a registry shows, or that determine what users install. */
export interface PublishedManifest {
  readonly name: string;
  readonly keywords?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const RUN_ON_INSTALL = ['preinstall', 'install', 'postinstall', 'prepare'];

/**
 * What would look wrong in a registry, or surprise a user who installs the package; one line each.
 *
 * @param folder of the package, from the root.
 * @param metadata the description of the repository in the root's package.json.
 * @param catalog the versions that `catalog:` stands for.
 */
export function publishedProblems(
  manifest: PublishedManifest,
  readme: string,
  folder: string,
  metadata: Metadata,
  catalog: Readonly<Record<string, string>>,
): readonly string[] {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(packageMetadata(metadata, folder))) {
    const actual = Object.entries(manifest).find(([member]) => member === name)?.[1];
    if (JSON.stringify(actual) !== JSON.stringify(value)) problems.push(`${name}: run \`pnpm metadata\``);
  }
  if (absoluteLinks(readme, folder, metadata.homepage, metadata.homepage) !== readme)
    problems.push('README.md has relative links, which lead nowhere in a registry: run `pnpm metadata`');
  if ((manifest.keywords ?? []).length < 5) problems.push('fewer than five keywords');
  for (const script of RUN_ON_INSTALL)
    if (manifest.scripts?.[script] !== undefined)
      problems.push(`the script ${script} runs where users install`);
  for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
    const resolved = range === 'catalog:' ? catalog[name] : range;
    if (!resolved?.startsWith('^') && resolved !== 'workspace:^')
      problems.push(`${name} is fixed to ${resolved}, so that users get a second copy`);
  }
  // The framework of an adapter is the peer with the adapter's name: without it, the package is useless.
  for (const name of Object.keys(manifest.peerDependencies ?? {}))
    if (!manifest.name.endsWith(`/${name}`) && !manifest.peerDependenciesMeta?.[name]?.optional)
      problems.push(`the peer ${name} is not optional`);
  return problems.map((problem) => `${manifest.name}: ${problem}`);
}

if (import.meta.main) {
  const own = readManifest<Metadata>(join(root, 'package.json'));
  for (const { folder } of publishedPackages()) {
    const name = relative(root, folder).replaceAll('\\', '/');
    const path = join(folder, 'package.json');
    const { homepage, bugs, repository, ...manifest } = readManifest<Partial<Metadata>>(path);
    const members = Object.entries(manifest);
    // After the licence, where readers look for them.
    const at = members.findIndex(([member]) => member === 'license') + 1;
    members.splice(at, 0, ...Object.entries(packageMetadata(own, name)));
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(members), null, 2)}\n`);
    const readme = join(folder, 'README.md');
    const previous = homepage?.split('/tree/')[0] ?? own.homepage;
    writeFileSync(readme, absoluteLinks(readFileSync(readme, 'utf8'), name, own.homepage, previous));
  }
  console.log('Wrote the metadata of the published packages.');
}

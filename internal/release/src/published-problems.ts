import { absoluteLinks, type Metadata, packageMetadata } from './metadata.ts';

/** The members of a published package.json that a registry shows, or that decide what users install. */
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
 * What would look wrong in a registry, or surprise someone who installs the package; one line each.
 *
 * @param folder of the package, from the root.
 * @param metadata what the root's package.json says of the repository.
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
  // The framework of an adapter is the peer of its own name: without it, the package has no use.
  for (const name of Object.keys(manifest.peerDependencies ?? {}))
    if (!manifest.name.endsWith(`/${name}`) && !manifest.peerDependenciesMeta?.[name]?.optional)
      problems.push(`the peer ${name} is not optional`);
  return problems.map((problem) => `${manifest.name}: ${problem}`);
}

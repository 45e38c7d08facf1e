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

/**
 * Makes the links of a README absolute, for registries: relative links, and links to an earlier home of the repository, lead to
 * the repository on the web.
 *
 * @param folder The folder of the README, from the root.
 * @param previous The homepage in the current links.
 */
function absoluteLinks(text: string, folder: string, homepage: string, previous: string): string {
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

/**
 * The package.json and the README of a published package, with the repository that the root's package.json names.
 *
 * @param folder The folder of the package, from the root.
 */
export function withMetadata(
  folder: string,
  { homepage, bugs: _, repository: __, ...manifest }: Partial<Metadata>,
  readme: string,
  own: Metadata,
): { manifest: object; readme: string } {
  const members = Object.entries(manifest);
  // After the licence, where readers look for them.
  const at = members.findIndex(([member]) => member === 'license') + 1;
  members.splice(
    at,
    0,
    ...Object.entries({
      homepage: `${pageOf(own.homepage, folder)}#readme`,
      bugs: own.bugs,
      repository: { ...own.repository, directory: folder },
    }),
  );
  const previous = homepage?.split('/tree/')[0] ?? own.homepage;
  return {
    manifest: Object.fromEntries(members),
    readme: absoluteLinks(readme, folder, own.homepage, previous),
  };
}

if (import.meta.main) {
  const own = readManifest<Metadata>(join(root, 'package.json'));
  for (const { folder } of publishedPackages()) {
    const [path, page] = [join(folder, 'package.json'), join(folder, 'README.md')];
    const name = relative(root, folder).replaceAll('\\', '/');
    const { manifest, readme } = withMetadata(name, readManifest(path), readFileSync(page, 'utf8'), own);
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
    writeFileSync(page, readme);
  }
  console.log('Wrote the metadata of the published packages.');
}

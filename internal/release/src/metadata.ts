/**
 * `pnpm metadata`: writes the repository that the root's package.json names into the published packages: their package.json
 * and the links of their READMEs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { publishedPackages, readManifest, root } from './repository.ts';

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

if (import.meta.main) {
  const own = readManifest<Metadata>(join(root, 'package.json'));
  for (const { folder } of publishedPackages(root)) {
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

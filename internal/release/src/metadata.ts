/** Stands for the owner of the repository until there is one. */
export const PLACEHOLDER = 'OWNER';

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

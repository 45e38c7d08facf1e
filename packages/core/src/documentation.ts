import manifest from '../package.json' with { type: 'json' };

/**
 * The address of a page of the documents, on the web: the repository is the one that package.json names. A test of the documents
 * checks that each page exists.
 */
export function documentation(page: string): string {
  return `${manifest.homepage.split('/tree/')[0]}/blob/main/docs/${page}`;
}

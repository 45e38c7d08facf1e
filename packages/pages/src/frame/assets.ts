/** The assets of pages, with their types. */
export const ASSETS = {
  'style.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'idiomorph.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

export type AssetName = keyof typeof ASSETS;

/**
 * The files that pages load. A build replaces this function with their contents, because pages must work in a bundle and without a
 * file system.
 */
export async function readAsset(name: AssetName): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const read = (url: string): Promise<string> => readFile(new URL(url), 'utf8');
  if (name === 'idiomorph.js') {
    return `${await read(import.meta.resolve('idiomorph/dist/idiomorph.min.js'))}\nexport { Idiomorph };\n`;
  }
  return read(new URL(`../browser/${name}`, import.meta.url).href);
}

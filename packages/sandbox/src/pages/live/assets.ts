/**
 * The files that pages load. The build puts their texts in place of this module, because pages must come from
 * `sandbox.fetch` in a bundle and without a file system.
 */
export async function readAsset(
  name: 'style.css' | 'live.js' | 'stream.js' | 'idiomorph.js' | 'icon.svg',
): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const read = (url: string): Promise<string> => readFile(new URL(url), 'utf8');
  if (name === 'idiomorph.js') {
    return `${await read(import.meta.resolve('idiomorph/dist/idiomorph.min.js'))}\nexport { Idiomorph };\n`;
  }
  return read(new URL(name === 'style.css' ? '../parts/style.css' : `./${name}`, import.meta.url).href);
}

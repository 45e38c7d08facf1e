import { ASSETS, type AssetName, readAsset } from './assets.ts';

/** For the build of a package: replaces the module that reads the assets with their contents. */
export function embeddedAssets(): { name: string; load(id: string): Promise<string | undefined> } {
  return {
    name: 'embedded-assets',
    async load(id) {
      if (!/[\\/]pages[\\/]src[\\/]frame[\\/]assets\.ts$/.test(id)) return undefined;
      const names = Object.keys(ASSETS) as AssetName[];
      const contents = await Promise.all(names.map(async (name) => [name, await readAsset(name)]));
      return `const contents: Record<string, string> = ${JSON.stringify(Object.fromEntries(contents))};
export const ASSETS: Record<string, string> = ${JSON.stringify(ASSETS)};
export async function readAsset(name: string): Promise<string> { return contents[name] ?? ''; }`;
    },
  };
}

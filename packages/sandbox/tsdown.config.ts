import { defineConfig, type UserConfig } from 'tsdown';
import { readAsset } from './src/pages/live/assets.ts';

/** The texts of what pages load, in place of the module that reads them, so that a bundle needs no files. */
function embeddedAssets(): { name: string; load(id: string): Promise<string | undefined> } {
  return {
    name: 'embedded-assets',
    async load(id) {
      if (!id.endsWith('/live/assets.ts')) return undefined;
      const names = ['style.css', 'live.js', 'stream.js', 'idiomorph.js', 'icon.svg'] as const;
      const texts = await Promise.all(names.map(async (name) => [name, await readAsset(name)]));
      return `const texts: Record<string, string> = ${JSON.stringify(Object.fromEntries(texts))};
export async function readAsset(name: string): Promise<string> { return texts[name] ?? ''; }`;
    },
  };
}

const shared: UserConfig = { dts: { entry: 'src/index.ts' }, platform: 'node', plugins: [embeddedAssets()] };

const config: UserConfig[] = defineConfig([
  {
    ...shared,
    // The command runs as a module only, and shares its code with the main entry.
    entry: { index: 'src/index.ts', command: 'src/command/command.ts' },
    format: 'esm',
    outputOptions: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    copy: [{ from: 'node_modules/idiomorph/LICENSE', to: 'dist', rename: 'idiomorph.LICENSE' }],
  },
  { ...shared, entry: 'src/index.ts', format: 'cjs', clean: false },
]);
export default config;

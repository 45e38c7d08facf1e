import { defineConfig, type UserConfig } from 'tsdown';
import { readAsset } from './src/pages/live/assets.ts';

/** The texts of what pages load, in place of the module that reads them, so that a bundle needs no files. */
function embeddedAssets(): { name: string; load(id: string): Promise<string | undefined> } {
  return {
    name: 'embedded-assets',
    async load(id) {
      if (!id.endsWith('/live/assets.ts')) return undefined;
      const names = ['style.css', 'live.js', 'idiomorph.js'] as const;
      const texts = await Promise.all(names.map(async (name) => [name, await readAsset(name)]));
      return `const texts: Record<string, string> = ${JSON.stringify(Object.fromEntries(texts))};
export async function readAsset(name: string): Promise<string> { return texts[name] ?? ''; }`;
    },
  };
}

const plugins = [embeddedAssets()];

const config: UserConfig[] = defineConfig([
  {
    entry: ['src/index.ts'],
    format: ['esm', 'cjs'],
    dts: true,
    platform: 'neutral',
    plugins,
    copy: [{ from: 'node_modules/idiomorph/LICENSE', to: 'dist', rename: 'idiomorph.LICENSE' }],
  },
  // The command runs in Node only, and as a module only.
  {
    entry: { command: 'src/command/command.ts' },
    format: ['esm'],
    dts: false,
    platform: 'node',
    clean: false,
    fixedExtension: false,
    plugins,
  },
]);
export default config;

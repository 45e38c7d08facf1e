import { embeddedAssets } from '@payment-service/pages/embedded-assets';
import { defineConfig, type UserConfig } from 'tsdown';
import { BUNDLED_WITH_PAGES, LICENCES_OF_PAGES, moduleForTracers } from '../../tsdown.shared.ts';

const shared: UserConfig = {
  dts: { entry: 'src/index.ts' },
  platform: 'node',
  footer: moduleForTracers,
  plugins: [embeddedAssets()],
  deps: { onlyBundle: ['@payment-service/pages', ...BUNDLED_WITH_PAGES] },
};

const config: UserConfig[] = defineConfig([
  {
    ...shared,
    // The command runs as a module only, and shares its code with the main entry.
    entry: { index: 'src/index.ts', command: 'src/command/command.ts' },
    format: 'esm',
    outputOptions: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    copy: LICENCES_OF_PAGES,
  },
  { ...shared, entry: 'src/index.ts', format: 'cjs', clean: false },
]);
export default config;

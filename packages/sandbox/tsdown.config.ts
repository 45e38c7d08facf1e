import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig[] = defineConfig([
  { entry: ['src/index.ts'], format: ['esm', 'cjs'], dts: true, platform: 'neutral' },
  // The command runs in Node only, and as a module only.
  {
    entry: { command: 'src/command/command.ts' },
    format: ['esm'],
    dts: false,
    platform: 'node',
    clean: false,
    fixedExtension: false,
  },
]);
export default config;

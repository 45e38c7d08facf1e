import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig[] = defineConfig([
  {
    entry: { index: 'src/index.ts' },
    format: ['esm', 'cjs'],
    dts: true,
    platform: 'node',
    fixedExtension: false,
  },
  // The thread that owns a SQLite connection: started by its path, never imported.
  {
    entry: { 'sqlite-thread': 'src/sqlite/thread.ts' },
    format: ['esm'],
    dts: false,
    platform: 'node',
    fixedExtension: false,
    clean: false,
  },
]);
export default config;

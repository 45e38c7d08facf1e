import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Packages are built, packed, published and installed, compilers run, and several Node versions.
  test: { ...SHARED, globalSetup: 'test/packed/scratch.ts', testTimeout: 600_000, hookTimeout: 600_000 },
});
export default config;

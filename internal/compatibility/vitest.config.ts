import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Compilers and several Node versions run here.
  test: { ...SHARED, globalSetup: 'test/scratch.ts', testTimeout: 120_000, hookTimeout: 120_000 },
});
export default config;

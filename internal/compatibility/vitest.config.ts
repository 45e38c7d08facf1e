import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/scratch.ts',
    // Compilers and several Node versions run here; the deadline only ends a hang.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;

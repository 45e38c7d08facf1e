import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-postgres.ts'],
    // Real engines on a busy machine: these only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
export default config;

import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-postgres.ts'],
    // Programs, databases and browsers are started, on machines that do other things as well: a deadline that only a
    // hang meets.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
export default config;

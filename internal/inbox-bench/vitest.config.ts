import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  // Whole runs in processes of their own, with their servers; the deadlines only end a hang.
  test: { include: ['test/**/*.test.ts'], testTimeout: 240_000, hookTimeout: 240_000 },
});
export default config;

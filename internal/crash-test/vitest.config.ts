import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Whole runs with processes that are killed and started again.
  test: { ...SHARED, testTimeout: 300_000, hookTimeout: 300_000 },
});
export default config;

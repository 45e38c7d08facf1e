import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Whole runs with servers that are killed and rebuilt.
  test: { ...SHARED, testTimeout: 300_000, hookTimeout: 300_000 },
});
export default config;

import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Whole runs in processes of their own, with their servers.
  test: { ...SHARED, testTimeout: 240_000, hookTimeout: 240_000 },
});
export default config;

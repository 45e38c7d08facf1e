import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // A whole run in its own process, including packing.
  test: { ...SHARED, testTimeout: 300_000, hookTimeout: 300_000 },
});
export default config;

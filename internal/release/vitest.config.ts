import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Packages are built, published and installed.
  test: { ...SHARED, testTimeout: 600_000, hookTimeout: 600_000 },
});
export default config;

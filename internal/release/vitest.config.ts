import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // The programs of the rehearsal are not tests of this package. Packages are built, published and installed.
  test: { ...SHARED, include: ['test/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 },
});
export default config;

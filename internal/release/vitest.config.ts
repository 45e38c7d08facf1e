import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // The programs of the documents are extracted beside the tests, with test files among them.
  test: { ...SHARED, include: ['test/**/*.test.ts'] },
});
export default config;

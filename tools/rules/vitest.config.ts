import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // The programs of the documents, including test files, are extracted next to the tests.
  test: SHARED,
});
export default config;

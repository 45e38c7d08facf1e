import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

// Packages are built, packed, published and installed, compilers run, and several Node versions.
const test = { ...SHARED, testTimeout: 600_000, hookTimeout: 600_000 };
const [include = ''] = SHARED.include;
const PACKED = include.replace('test/**', 'test/packed/**');

const config: ViteUserConfig = defineConfig({
  test: {
    // Only the first packs all packages before it begins.
    projects: [
      { test: { ...test, name: 'packed', include: [PACKED], globalSetup: 'test/packed/scratch.ts' } },
      { test: { ...test, name: 'repository', exclude: [PACKED] } },
    ],
  },
});
export default config;

import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

// The site is built, and each of its pages is opened in a browser.
const test: typeof SHARED = { ...SHARED, testTimeout: 600_000, hookTimeout: 600_000 };
const config: ViteUserConfig = defineConfig({ test });
export default config;

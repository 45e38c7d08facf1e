import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({ test: { ...SHARED, hookTimeout: 240_000 } });
export default config;

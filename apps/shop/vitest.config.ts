import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED, WAITING_WORKERS } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({ test: { ...SHARED, maxWorkers: WAITING_WORKERS } });
export default config;

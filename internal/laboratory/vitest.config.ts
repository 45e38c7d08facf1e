import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED, WAITING_WORKERS } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Whole runs, with processes and servers that are killed and started again.
  test: { ...SHARED, testTimeout: 300_000, hookTimeout: 300_000, maxWorkers: WAITING_WORKERS },
});
export default config;

import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const maxWorkers = availableParallelism() * 2 + 1;
const config: ViteUserConfig = defineConfig({
  // Whole runs in processes of their own: a file mostly waits for them.
  test: { ...SHARED, testTimeout: 300_000, hookTimeout: 300_000, maxWorkers },
});
export default config;

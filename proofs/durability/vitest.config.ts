import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  // Whole runs, with processes and servers that are killed and restarted: a file mostly waits for them.
  test: { ...SHARED, maxWorkers: availableParallelism() * 2 + 1 },
});
export default config;

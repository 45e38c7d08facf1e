import { defineConfig, type ViteUserConfig } from 'vitest/config';

// Several tests start processes; on a busy machine that takes its time. Only a hang should fail for its length.
const config: ViteUserConfig = defineConfig({ test: { testTimeout: 60_000, hookTimeout: 60_000 } });
export default config;

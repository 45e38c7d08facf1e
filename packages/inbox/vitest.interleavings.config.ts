import { GLOBAL_POSTGRES } from '@payment-service/servers/postgres';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** All ten thousand interleavings on both engines, beside the sample of them that every test run takes. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/interleavings.test.ts'],
    globalSetup: [GLOBAL_POSTGRES],
    env: { INTERLEAVINGS: process.env['INTERLEAVINGS'] ?? '10000' },
  },
});
export default config;

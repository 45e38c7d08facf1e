import { GLOBAL_POSTGRES } from '@payment-service/servers/postgres';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  test: { ...SHARED, globalSetup: [GLOBAL_POSTGRES] },
});
export default config;

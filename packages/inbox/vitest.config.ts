import { GLOBAL_POSTGRES } from '@payment-service/servers/postgres';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SHARED, WAITING_WORKERS } from '../../vitest.shared.ts';

const config: ViteUserConfig = defineConfig({
  test: { ...SHARED, maxWorkers: WAITING_WORKERS, globalSetup: [GLOBAL_POSTGRES] },
});
export default config;

import { namesOfCore } from '@payment-service/adapter-conformance/names-of-core';
import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  plugins: [namesOfCore],
});
export default config;
